// Routes of uploads on both surfaces: the backend keeps the files, and the web forwards to it.
import { Elysia } from "elysia";
import { encodePathSegment } from "../../src/kernel/http/backend/backend-response.ts";
import type { BackendTransport } from "../../src/kernel/http/backend/backend-transport.ts";
import { forwardToBackend } from "../../src/kernel/http/backend/forward-to-backend.ts";
import type { Idempotency } from "../../src/kernel/http/idempotency.ts";
import { documentErrors } from "../../src/kernel/http/openapi/route-documentation.ts";
import { readLimit } from "../../src/kernel/http/paging.ts";
import type { ServiceOf } from "../../src/kernel/plugin.ts";
import type { agents as agentsPlugin } from "../agents/index.ts";
import type { auth, Identity } from "../auth/index.ts";
import { fileHeaders } from "./file-type.ts";
import {
  removedUpload,
  toUploadItem,
  uploadItem,
  uploadList,
  uploadListQuery,
  uploadQuery,
  uploadRequestDocs,
} from "./model.ts";
import { createUploadGate, readUpload } from "./upload-body.ts";
import type { UploadService } from "./upload-service.ts";

interface Deps {
  guards: ServiceOf<typeof agentsPlugin>["guards"];
  uploads: UploadService;
}

interface WebDeps extends Deps {
  backend: BackendTransport;
  idempotency: Idempotency;
  identities: Pick<ServiceOf<typeof auth>["identities"], "createGrant">;
}

const LIST = "/api/agents/:id/uploads";
const ONE = `${LIST}/:uploadId`;
const ACTION = "agent.upload";
const READ_ACTION = "agent.read";
const FILE_HEADERS = Object.keys(fileHeaders({ name: "", type: "", size: 0 }));
const tags = ["Uploads"];

const addDetail = {
  tags,
  summary: "Upload a file for an agent",
  description:
    "A form with the field `file`, or the file itself as the body, with its type and `?name=`. At most 20 MiB each; how much an " +
    "account may store depends on its plan. `POST /api/agents/{id}/conversations` sends them with a message, by their ids in `attachments`; no other route takes them. A file that is never sent is deleted after a " +
    "day, one that was sent together with its conversation. Files are not in backups and exports.",
  requestBody: uploadRequestDocs,
};
const addErrors = {
  413: ["UPLOAD_TOO_LARGE", "UPLOAD_QUOTA_EXCEEDED"],
  429: "TOO_MANY_UPLOADS",
  500: "UPLOAD_NOT_STORED",
};
const listDetail = {
  tags,
  summary: "The files that were uploaded for an agent, newest first",
  description: "Files that came with messages, without their content.",
};
const getDetail = {
  tags,
  summary: "An uploaded file",
  description: "Pictures (PNG, JPEG, WebP, GIF by their first bytes) can be shown in place; all other files are saved.",
  responses: {
    200: {
      description: "The file",
      content: { "application/octet-stream": { schema: { type: "string" as const, format: "binary" } } },
    },
  },
};
const removeDetail = {
  tags,
  summary: "Delete an uploaded file; messages that came with it keep their text",
  description: "The content is deleted, too.",
};
const notFound = { 404: ["AGENT_NOT_FOUND", "UPLOAD_NOT_FOUND"] };

const createListHandler =
  (uploads: UploadService) =>
  async ({ agent, query }: { agent: { id: string }; query: { limit?: string; cursor?: string } }) => {
    const limit = readLimit(query.limit, 50, 100);
    const found = await uploads.list(agent.id, { limit, cursor: query.cursor });
    const nextCursor = found.length === limit ? (found.at(-1)?.id ?? null) : null;
    return { uploads: found.map(toUploadItem), count: found.length, nextCursor };
  };

type AgentRequest = { agent: { id: string }; identity: Identity; request: Request };

export function webRoutes({ backend, idempotency, identities, guards, uploads }: WebDeps) {
  const gate = createUploadGate();
  const unavailable = { 502: "BACKEND_UNAVAILABLE" };
  const pathOf = (agentId: string, uploadId: string) => `/api/agents/${agentId}/uploads/${encodePathSegment(uploadId)}`;

  async function forwardFile({ agent, identity, request }: AgentRequest, queryName?: string): Promise<Response> {
    const { name, type, bytes } = await readUpload(request, queryName);
    const grant = identities.createGrant(identity, request, ACTION, agent.id);
    const response = await backend.fetch(grant, `/api/agents/${agent.id}/uploads?name=${encodeURIComponent(name)}`, {
      method: "POST",
      body: bytes,
      headers: { "content-type": type, "content-length": String(bytes.byteLength) },
    });
    return new Response(response.body, {
      status: response.status,
      headers: { "content-type": response.headers.get("content-type") ?? "application/json" },
    });
  }

  return new Elysia({ name: "uploads.web" })
    .use(guards)
    .get(LIST, createListHandler(uploads), {
      ownAgent: { scope: "read", kind: "data" },
      query: uploadListQuery,
      response: { 200: uploadList },
      detail: listDetail,
    })
    .post(
      LIST,
      (context) =>
        idempotency.respond({ request: context.request, userId: context.identity.user.id }, () =>
          forwardFile(context, context.query.name),
        ),
      {
        ownAgent: { scope: "write", kind: "data", file: gate.acquire },
        afterResponse: ({ request }) => gate.release(request),
        query: uploadQuery,
        response: { 201: uploadItem },
        detail: {
          ...addDetail,
          ...documentErrors({ ...addErrors, ...unavailable, 409: ["IDEMPOTENCY_MISMATCH", "IDEMPOTENCY_IN_PROGRESS"] }),
        },
      },
    )
    .get(
      ONE,
      ({ agent, identity, request, params: { uploadId } }) => {
        const grant = identities.createGrant(identity, request, READ_ACTION, agent.id);
        const responseHeaders = ({ ok }: Response) => (ok ? FILE_HEADERS : []);
        return forwardToBackend(backend, grant, request, pathOf(agent.id, uploadId), { responseHeaders });
      },
      {
        ownAgent: { scope: "read", kind: "data" },
        detail: { ...getDetail, ...documentErrors({ ...notFound, ...unavailable }) },
      },
    )
    .delete(
      ONE,
      ({ agent, identity, request, params: { uploadId } }) => {
        const grant = identities.createGrant(identity, request, ACTION, agent.id);
        return forwardToBackend(backend, grant, request, pathOf(agent.id, uploadId));
      },
      {
        ownAgent: { scope: "write", kind: "data" },
        response: { 200: removedUpload },
        detail: { ...removeDetail, ...documentErrors({ ...notFound, ...unavailable }) },
      },
    );
}

export function backendRoutes({ guards, uploads }: Deps) {
  const gate = createUploadGate();
  return new Elysia({ name: "uploads.backend" })
    .use(guards)
    .get(LIST, createListHandler(uploads), {
      agentCall: READ_ACTION,
      query: uploadListQuery,
      response: { 200: uploadList },
      detail: listDetail,
    })
    .post(
      LIST,
      async ({ agent, request, query, status }) => {
        const upload = await uploads.add(agent, await readUpload(request, query.name));
        return status(201, toUploadItem(upload));
      },
      {
        agentCall: { action: ACTION, scope: "write", file: gate.acquire },
        afterResponse: ({ request }) => gate.release(request),
        query: uploadQuery,
        response: { 201: uploadItem },
        detail: { ...addDetail, ...documentErrors(addErrors) },
      },
    )
    .get(
      ONE,
      async ({ agent, params: { uploadId } }) => {
        const { upload, file } = await uploads.open(agent.id, uploadId);
        return new Response(file, { headers: fileHeaders(upload) });
      },
      { agentCall: READ_ACTION, detail: { ...getDetail, ...documentErrors(notFound) } },
    )
    .delete(
      ONE,
      async ({ agent, params: { uploadId } }) => {
        await uploads.remove(agent.id, uploadId);
        return { success: true as const };
      },
      {
        agentCall: { action: ACTION, scope: "write" },
        response: { 200: removedUpload },
        detail: { ...removeDetail, ...documentErrors(notFound) },
      },
    );
}
