// Routes of an agent's files on both surfaces: the backend keeps and searches them, and the web forwards to it.
import { Elysia, type Static } from "elysia";
import { AppError, invalidInput } from "../../src/kernel/errors.ts";
import { encodePathSegment } from "../../src/kernel/http/backend/backend-response.ts";
import type { BackendTransport } from "../../src/kernel/http/backend/backend-transport.ts";
import { forwardToBackend } from "../../src/kernel/http/backend/forward-to-backend.ts";
import { decodeBody, parseJson } from "../../src/kernel/http/body/json-body.ts";
import type { Idempotency } from "../../src/kernel/http/idempotency.ts";
import { documentErrors } from "../../src/kernel/http/openapi/route-documentation.ts";
import { readLimit, readOffset } from "../../src/kernel/http/paging.ts";
import { contextOf } from "../../src/kernel/http/request-context.ts";
import type { ServiceOf } from "../../src/kernel/plugin.ts";
import type { Agent, agents as agentsPlugin } from "../agents/index.ts";
import type { auth, Identity } from "../auth/index.ts";
import { createUploadGate, readUpload } from "../uploads/index.ts";
import type { FileService } from "./file-service.ts";
import { REFRESHES, type Refresh } from "./file-store.ts";
import {
  addRequestDocs,
  changeBody,
  fileList,
  fileResponse,
  listQuery,
  removedFile,
  searchQuery,
  searchResults,
  toFileItem,
  toFileList,
  toSearchResults,
} from "./model.ts";

interface Deps {
  guards: ServiceOf<typeof agentsPlugin>["guards"];
  service: FileService;
}

interface WebDeps extends Deps {
  backend: BackendTransport;
  idempotency: Idempotency;
  identities: Pick<ServiceOf<typeof auth>["identities"], "createGrant">;
}

/** The route admits bodies of a file's size: JSON of that size would hold the event loop. */
const MAX_JSON_BYTES = 64 * 1024;
const ACTION = "agent.files";
const READ_ACTION = "agent.read";
const LIST = "/api/agents/:id/files";
const ONE = `${LIST}/:fileId`;
const SEARCH = "/api/agents/:id/knowledge";
const tags = ["Files"];
const unavailable = { 502: "BACKEND_UNAVAILABLE" };

const listDetail = {
  tags,
  summary: "The files that an agent knows, newest first, and what the plan has room for",
  description:
    "`status` is `reading` until the text is searchable. `used` and `limits` are those of the account's plan.",
};
const searchDetail = {
  tags,
  summary: "Passages of an agent's files that fit a question, best first, with file and page",
  description:
    "The same search that the agent's own tool makes, by meaning and words. `score` only orders the results.",
  operationId: "searchAgentKnowledge",
};
const addDetail = {
  tags,
  summary: "Give an agent a file, or an address to read",
  description:
    "A form with the field `file`, or JSON with an address. Text, Markdown, HTML, PDF, DOCX and CSV are read, up to 20 MiB each. The " +
    "reading is a job: `status` goes from `queued` over `indexing` to `ready` or `failed`, with the event `file.state`. Everybody who " +
    "may talk to the agent can be told what is in its files.",
  requestBody: addRequestDocs,
};
const addErrors = {
  400: ["INVALID_ADDRESS", "ADDRESS_NOT_ALLOWED"],
  404: "AGENT_NOT_FOUND",
  413: ["UPLOAD_TOO_LARGE", "FILE_QUOTA_EXCEEDED"],
  415: "UNSUPPORTED_MEDIA_TYPE",
  422: "UNREADABLE_DOCUMENT",
  429: ["FILE_LIMIT_REACHED", "TOO_MANY_UPLOADS"],
  500: "UPLOAD_NOT_STORED",
};
const missing = { 404: ["AGENT_NOT_FOUND", "FILE_NOT_FOUND"] };
const detailOf = (
  texts: { summary: string; description: string; operationId?: string },
  errors: Record<number, string | string[]>,
) => ({
  tags,
  ...texts,
  ...documentErrors(errors),
});
const SHOW = {
  summary: "A file, and how far its reading is",
  description: "A file that could not be read has `errorCode`, and a sentence in `error`.",
};
const CHANGE = {
  summary: "Change how often an address is read again",
  description: "Only for files that came from an address.",
};
const AGAIN = {
  summary: "Read an address again, or a file that failed",
  description: "Reading goes on in the background; `status` shows how far it is.",
  operationId: "rereadAgentFile",
};
const REMOVE = {
  summary: "Delete a file; it is no longer found at once",
  description: "Its passages are deleted with it.",
};

type AgentRequest = { agent: Agent; identity: Identity; request: Request };
const createListHandler =
  (service: FileService) =>
  async ({ agent, query }: { agent: Agent; query: Static<typeof listQuery> }) => {
    const page = { limit: readLimit(query.limit, 50, 100), offset: readOffset(query.offset) };
    const [files, usage] = await Promise.all([service.list(agent.id, page), service.usage(agent)]);
    return toFileList(files, usage);
  };
const createOneHandler =
  (service: FileService) =>
  async ({ agent, params }: { agent: Agent; params: { fileId: string } }) => ({
    file: toFileItem(await service.require(agent.id, params.fileId)),
  });

export function webRoutes({ backend, idempotency, identities, guards, service }: WebDeps) {
  const gate = createUploadGate();
  const forward = ({ agent, identity, request }: AgentRequest, path: string, action = ACTION) =>
    forwardToBackend(
      backend,
      identities.createGrant(identity, request, action, agent.id),
      request,
      `/api/agents/${agent.id}${path}`,
    );
  const forwardOne = (call: AgentRequest & { params: { fileId: string } }, path = "") =>
    forward(call, `/files/${encodePathSegment(call.params.fileId)}${path}`);
  const writing = { ownAgent: { scope: "write", kind: "data" } } as const;
  const reading = { ownAgent: { scope: "read", kind: "data" } } as const;

  async function forwardFile({ agent, identity, request }: AgentRequest): Promise<Response> {
    const bytes = contextOf(request).bodyBytes ?? new Uint8Array();
    const grant = identities.createGrant(identity, request, ACTION, agent.id);
    const response = await backend.fetch(grant, `/api/agents/${agent.id}/files`, {
      method: "POST",
      body: bytes,
      headers: {
        "content-type": request.headers.get("content-type") ?? "",
        "content-length": String(bytes.byteLength),
      },
    });
    const type = response.headers.get("content-type") ?? "application/json";
    return new Response(response.body, { status: response.status, headers: { "content-type": type } });
  }

  return new Elysia({ name: "knowledge.web" })
    .use(guards)
    .get(LIST, createListHandler(service), {
      ...reading,
      query: listQuery,
      response: { 200: fileList },
      detail: listDetail,
    })
    .get(ONE, createOneHandler(service), {
      ...reading,
      response: { 200: fileResponse },
      detail: detailOf(SHOW, missing),
    })
    .get(
      SEARCH,
      (call) => {
        const { query, limit } = call.query;
        const given = new URLSearchParams({ query, ...(limit !== undefined && { limit }) });
        return forward(call, `/knowledge?${given}`, READ_ACTION);
      },
      {
        ...reading,
        query: searchQuery,
        response: { 200: searchResults },
        detail: { ...searchDetail, ...documentErrors(unavailable) },
      },
    )
    .post(
      LIST,
      (call) => idempotency.respond({ request: call.request, userId: call.identity.user.id }, () => forwardFile(call)),
      {
        ownAgent: { ...writing.ownAgent, file: gate.acquire },
        afterResponse: ({ request }) => gate.release(request),
        response: { 202: fileResponse },
        detail: {
          ...addDetail,
          ...documentErrors({ ...addErrors, ...unavailable, 409: ["IDEMPOTENCY_MISMATCH", "IDEMPOTENCY_IN_PROGRESS"] }),
        },
      },
    )
    .patch(ONE, (call) => forwardOne(call), {
      ...writing,
      body: changeBody,
      response: { 200: fileResponse },
      detail: detailOf(CHANGE, { ...missing, ...unavailable }),
    })
    .post(`${ONE}/read`, (call) => forwardOne(call, "/read"), {
      ...writing,
      response: { 202: fileResponse },
      detail: detailOf(AGAIN, { ...missing, ...unavailable }),
    })
    .delete(ONE, (call) => forwardOne(call), {
      ...writing,
      response: { 200: removedFile },
      detail: detailOf(REMOVE, { ...missing, ...unavailable }),
    });
}

export function backendRoutes({ guards, service }: Deps) {
  const gate = createUploadGate();
  const changing = { agentCall: { action: ACTION, scope: "write" } } as const;
  return new Elysia({ name: "knowledge.backend" })
    .use(guards)
    .get(LIST, createListHandler(service), {
      agentCall: READ_ACTION,
      query: listQuery,
      response: { 200: fileList },
      detail: listDetail,
    })
    .get(ONE, createOneHandler(service), {
      agentCall: READ_ACTION,
      response: { 200: fileResponse },
      detail: detailOf(SHOW, missing),
    })
    .get(
      SEARCH,
      async ({ agent, query: { query, limit } }) =>
        toSearchResults(await service.search(agent, query, readLimit(limit, 10, 50))),
      { agentCall: READ_ACTION, query: searchQuery, response: { 200: searchResults }, detail: searchDetail },
    )
    .post(
      LIST,
      async ({ agent, request, status }) => status(202, { file: toFileItem(await addFrom(service, agent, request)) }),
      {
        agentCall: { ...changing.agentCall, file: gate.acquire },
        afterResponse: ({ request }) => gate.release(request),
        response: { 202: fileResponse },
        detail: { ...addDetail, ...documentErrors(addErrors) },
      },
    )
    .patch(
      ONE,
      async ({ agent, params, body }) => ({
        file: toFileItem(await service.setRefresh(agent, params.fileId, body.refresh)),
      }),
      { ...changing, body: changeBody, response: { 200: fileResponse }, detail: detailOf(CHANGE, missing) },
    )
    .post(
      `${ONE}/read`,
      async ({ agent, params, status }) =>
        status(202, { file: toFileItem(await service.readAgain(agent, params.fileId)) }),
      { ...changing, response: { 202: fileResponse }, detail: detailOf(AGAIN, missing) },
    )
    .delete(
      ONE,
      async ({ agent, params }) => {
        await service.remove(agent, params.fileId);
        return { success: true, id: params.fileId };
      },
      { ...changing, response: { 200: removedFile }, detail: detailOf(REMOVE, missing) },
    );
}

/** Adds the file of a form, or the address of a JSON body. */
async function addFrom(service: FileService, agent: Agent, request: Request) {
  const [type] = (request.headers.get("content-type") ?? "").toLowerCase().split(";");
  if (type === "multipart/form-data") return service.add(agent, await readUpload(request, undefined));
  if (type !== "application/json") {
    const text = "Send a form with the field `file`, or JSON with the address as `url`.";
    throw new AppError(415, "UNSUPPORTED_MEDIA_TYPE", text);
  }
  const bytes = contextOf(request).bodyBytes ?? new Uint8Array();
  if (bytes.byteLength > MAX_JSON_BYTES) throw invalidInput({ path: "", message: "This is more than an address." });
  const body = parseJson(decodeBody(bytes));
  const of = (name: string): unknown =>
    typeof body === "object" && body !== null ? Reflect.get(body, name) : undefined;
  const [url, refresh] = [of("url"), of("refresh") ?? null];
  if (typeof url !== "string" || url.length > 2_000) {
    throw invalidInput({ path: "url", message: "Give the address of a page or file, with at most 2,000 characters." });
  }
  if (!isRefresh(refresh)) throw invalidInput({ path: "refresh", message: "This must be hour, day, week or null." });
  return service.addAddress(agent, url, refresh);
}

const isRefresh = (value: unknown): value is Refresh | null =>
  value === null || REFRESHES.some((known) => known === value);
