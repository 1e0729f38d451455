// Routes of export and import: the web surface exports agents, the backend creates imported ones.
import { Elysia } from "elysia";
import type { BackendTransport } from "../../../src/kernel/http/backend/backend-transport.ts";
import { forwardToBackend } from "../../../src/kernel/http/backend/forward-to-backend.ts";
import type { Idempotency } from "../../../src/kernel/http/idempotency.ts";
import {
  documentErrors,
  documentGuard,
  documentResponse,
} from "../../../src/kernel/http/openapi/route-documentation.ts";
import { createRequestMemo } from "../../../src/kernel/http/request-context.ts";
import { guardedFile } from "../../../src/kernel/http/route-guards.ts";
import type { ServiceOf } from "../../../src/kernel/plugin.ts";
import type { agents as agentsPlugin } from "../../agents/index.ts";
import type { auth, Caller } from "../../auth/index.ts";
import { createExportedAgentSchema, exportQuery } from "./export-format.ts";
import type { ImportExport } from "./import-export.ts";
import {
  createImportDetail,
  createPreviewDetail,
  importErrors,
  importedBytes,
  importedResponse,
  importQuery,
  previewErrors,
  previewResponse,
  requireImportType,
} from "./import-model.ts";
import { createLargeUploads } from "./large-uploads.ts";

type Identities = ServiceOf<typeof auth>["identities"];

interface WebDeps {
  backend: BackendTransport;
  idempotency: Idempotency;
  identities: Identities;
  agents: Pick<ServiceOf<typeof agentsPlugin>, "guards" | "requireQuota">;
}

const IMPORT_ACTION = "agent.import";
const EXPORT_ACTION = "agent.export";
const tags = ["Agents"];
const EXPORT = "/api/agents/:id/export";
const createExportDetail = () => ({
  tags,
  summary: "An agent as one JSON file, without secrets",
  operationId: "exportAgent",
  description:
    "Its name, model, configuration (byte for byte), skills, public page, memories, reminders, schedules and sessions with " +
    "their messages and files, of which up to 12 MiB are in it. No credentials, tokens or channels. `POST /api/agents/import` creates an agent from it.",
  ...documentResponse(createExportedAgentSchema(), "The agent"),
});

export function importExportWebRoutes({ backend, idempotency, identities, agents }: WebDeps) {
  const uploads = createLargeUploads();
  /** As `signedIn: "write"`, for an owner who may have one more agent, with the body size of exported agents. */
  const guards = new Elysia({ name: "portable.guards" }).macro({
    importing: (_: true) => ({
      ...guardedFile(async ({ request }) => {
        const { user, isAdmin } = await identities.authenticate(request, "write");
        await agents.requireQuota({ userId: user.id, isAdmin });
        requireImportType(request);
        uploads.acquire(request);
      }),
      afterResponse: ({ request }: { request: Request }) => uploads.release(request),
      detail: documentGuard(["session", "apiKey"], { 403: "MISSING_SCOPE" }),
      resolve: async ({ request }: { request: Request }) => ({
        identity: await identities.authenticate(request, "write"),
      }),
    }),
  });

  return new Elysia({ name: "portable.web" })
    .use(agents.guards)
    .use(guards)
    .get(
      EXPORT,
      // Where the backend is another process, it alone has the files.
      ({ agent, identity, request, query }) => {
        const granted = identities.createGrant(identity, request, EXPORT_ACTION, agent.id);
        const path = `/api/agents/${agent.id}/export?${new URLSearchParams(query)}`;
        const responseHeaders = () => ["content-disposition"];
        return forwardToBackend(backend, granted, request, path, { signal: request.signal, responseHeaders });
      },
      {
        ownAgent: { scope: "read", kind: "data" },
        query: exportQuery,
        detail: { ...createExportDetail(), ...documentErrors({ 502: "BACKEND_UNAVAILABLE" }) },
      },
    )
    .post(
      "/api/agents/import",
      ({ identity, request, query }) => {
        importedBytes(request);
        return idempotency.respond({ request, userId: identity.user.id }, () => {
          const granted = identities.createGrant(identity, request, IMPORT_ACTION);
          return forwardToBackend(backend, granted, request, `/api/agents/import?${new URLSearchParams(query)}`);
        });
      },
      {
        importing: true,
        query: importQuery,
        response: { 201: importedResponse },
        detail: {
          ...createImportDetail(createExportedAgentSchema()),
          ...documentErrors({
            ...importErrors,
            409: [...importErrors[409], "IDEMPOTENCY_MISMATCH", "IDEMPOTENCY_IN_PROGRESS"],
            502: "BACKEND_UNAVAILABLE",
          }),
        },
      },
    )
    .post(
      "/api/agents/import/preview",
      ({ identity, request }) => {
        importedBytes(request);
        const granted = identities.createGrant(identity, request, IMPORT_ACTION);
        return forwardToBackend(backend, granted, request, "/api/agents/import/preview");
      },
      {
        importing: true,
        response: { 200: previewResponse },
        detail: { ...createPreviewDetail(), ...documentErrors({ ...previewErrors, 502: "BACKEND_UNAVAILABLE" }) },
      },
    );
}

interface BackendDeps {
  identities: Identities;
  agents: Pick<ServiceOf<typeof agentsPlugin>, "guards" | "views" | "requireQuota">;
  importExport: ImportExport;
}

export function importBackendRoutes({ identities, agents, importExport }: BackendDeps) {
  const uploads = createLargeUploads();
  const callers = createRequestMemo<Caller>();
  type Context = { request: Request };
  /** As `granted: "agent.import"`, with the body size of exported agents. */
  const guards = new Elysia({ name: "portable.backend.guards" }).macro({
    importing: (_: true) => ({
      ...guardedFile(async ({ request }) => {
        await agents.requireQuota(callers.set(request, await identities.authorize(request, IMPORT_ACTION)));
        requireImportType(request);
        uploads.acquire(request);
      }),
      afterResponse: ({ request }: Context) => uploads.release(request),
      detail: documentGuard(["serviceToken", "session", "apiKey"], { 403: "MISSING_SCOPE" }),
      resolve: async ({ request }: Context) => ({
        caller: callers.get(request) ?? (await identities.authorize(request, IMPORT_ACTION)),
      }),
    }),
  });
  return new Elysia({ name: "portable.backend" })
    .use(agents.guards)
    .use(guards)
    .get(
      EXPORT,
      async ({ agent, query: { history } }) =>
        new Response(toReadableStream(await importExport.exportAgent(agent, { history: history !== "0" })), {
          headers: {
            "content-type": "application/json;charset=utf-8",
            "content-disposition": attachmentHeader(agent.name),
          },
        }),
      { agentCall: { action: EXPORT_ACTION, scope: "read" }, query: exportQuery, detail: createExportDetail() },
    )
    .post(
      "/api/agents/import",
      async ({ caller: { userId, isAdmin }, request, query, status }) => {
        const options = { again: query.again === "1", timezone: query.timezone };
        const made = await importExport.importAgent({ userId, isAdmin }, importedBytes(request), options);
        const { agent, ...rest } = made;
        return status(201, { ...agents.views.provisionedResponse(agent), ...rest });
      },
      {
        importing: true,
        query: importQuery,
        response: { 201: importedResponse },
        detail: { ...createImportDetail(createExportedAgentSchema()), ...documentErrors(importErrors) },
      },
    )
    .post("/api/agents/import/preview", ({ request }) => importExport.previewImport(importedBytes(request)), {
      importing: true,
      response: { 200: previewResponse },
      detail: { ...createPreviewDetail(), ...documentErrors(previewErrors) },
    });
}

/** A stream that pulls the next chunk when its reader wants one. */
function toReadableStream(chunks: AsyncGenerator<string, void>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream({
    async pull(controller) {
      const { value, done } = await chunks.next();
      if (done) controller.close();
      else controller.enqueue(encoder.encode(value));
    },
    async cancel() {
      await chunks.return();
    },
  });
}

/**
 * `content-disposition` with an ASCII file name for every browser (RFC 6266) and the full name in RFC 5987's encoding.
 */
export function attachmentHeader(name: string): string {
  const plain = name
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .replace(/[^A-Za-z0-9._-]+/g, "-")
    .replace(/^[-.]+|[-.]+$/g, "");
  const full = encodeURIComponent(`${name.toWellFormed()}.berth.json`).replace(
    /['()*]/g,
    (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${plain || "agent"}.berth.json"; filename*=UTF-8''${full}`;
}
