// The routes of portable agents: exported by the web surface, made by the backend.
import { Elysia, type TSchema } from "elysia";
import { type BackendTransport, passOn } from "../../src/backend.ts";
import { contextOf, createMemo, guarded } from "../../src/http.ts";
import type { Idempotency } from "../../src/idempotency.ts";
import { answers, guardedBy, mayAnswer } from "../../src/openapi/told.ts";
import type { ServiceOf } from "../../src/plugin.ts";
import { type agents as agentsPlugin, provisioned, provisioningErrors } from "../agents/index.ts";
import type { auth, Caller } from "../auth/index.ts";
import { createLargeFiles } from "./large-files.ts";
import type { Portables } from "./portable.ts";
import { exportQuery, portable } from "./portable-model.ts";

type Identities = ServiceOf<typeof auth>["identities"];

interface WebDeps {
  backend: BackendTransport;
  idempotency: Idempotency;
  identities: Identities;
  agents: Pick<ServiceOf<typeof agentsPlugin>, "guards">;
  portables: Portables;
}

const IMPORT = "agent.import";
const tags = ["Agents"];
const importErrors = {
  ...provisioningErrors,
  400: ["UNKNOWN_FORMAT", "INVALID_CONFIG", "CONFIG_TOO_LARGE", "SECRET_IN_CONFIG"],
  409: "AGENT_GONE",
  429: [provisioningErrors[429], "TOO_MANY_IMPORTS"].flat(),
};
const schema: TSchema = portable;
const requestBody = { required: true, content: { "application/json": { schema } } };
const importDetail = {
  tags,
  summary: "Make an agent from an exported one",
  description:
    "Takes what `GET /api/agents/:id/export` gave. The new agent has the same configuration, byte for byte, the same " +
    "memories, skills, reminders and sessions, under ids of its own, and no credentials or channels. The rules of " +
    "provisioning hold. A file may have 32 MiB: of a larger agent export what it is with `history=0`.",
  requestBody,
};

export function portableWebRoutes({ backend, idempotency, identities, agents, portables }: WebDeps) {
  const files = createLargeFiles();
  /** As `signedIn: "write"`, for files that are larger than other bodies. */
  const guards = new Elysia({ name: "portable.guards" }).macro({
    importing: (_: true) => ({
      ...guarded(async ({ request }) => {
        await identities.authenticate(request, "write");
        files.enter(request);
      }),
      afterResponse: ({ request }: { request: Request }) => files.leave(request),
      detail: guardedBy(["session", "apiKey"], { 403: "MISSING_SCOPE" }),
      resolve: async ({ request }: { request: Request }) => ({
        identity: await identities.authenticate(request, "write"),
      }),
    }),
  });

  return new Elysia({ name: "portable.web" })
    .use(agents.guards)
    .use(guards)
    .get(
      "/api/agents/:id/export",
      async ({ agent, query: { history } }) =>
        new Response(streamOf(await portables.write(agent, { history: history !== "0" })), {
          headers: {
            "content-type": "application/json;charset=utf-8",
            "content-disposition": attachment(agent.name),
          },
        }),
      {
        ownAgent: { scope: "read", kind: "data" },
        query: exportQuery,
        detail: {
          tags,
          summary: "An agent as one JSON file, without secrets",
          description:
            "Its name, model, configuration (byte for byte), skills, memories, reminders and sessions with all that was " +
            "said. No credentials, tokens or channels. `POST /api/agents/import` makes an agent of it.",
          ...answers(schema, "The agent"),
        },
      },
    )
    .post(
      "/api/agents/import",
      ({ identity, request }) =>
        idempotency.respond({ request, userId: identity.user.id }, async () => {
          const body = contextOf(request).bodyText ?? "";
          const headers = { "content-type": "application/json", "content-length": String(Buffer.byteLength(body)) };
          const granted = identities.grant(identity, request, IMPORT);
          return passOn(await backend.fetch(granted, "/api/agents/import", { method: "POST", body, headers }));
        }),
      {
        importing: true,
        response: { 201: provisioned },
        detail: {
          ...importDetail,
          ...mayAnswer({
            ...importErrors,
            409: ["AGENT_GONE", "IDEMPOTENCY_MISMATCH", "IDEMPOTENCY_IN_PROGRESS"],
            502: "BACKEND_UNAVAILABLE",
          }),
        },
      },
    );
}

interface BackendDeps {
  identities: Identities;
  agents: Pick<ServiceOf<typeof agentsPlugin>, "views">;
  portables: Portables;
}

export function portableBackendRoutes({ identities, agents, portables }: BackendDeps) {
  const files = createLargeFiles();
  const callers = createMemo<Caller>();
  type Context = { request: Request };
  /** As `granted: "agent.import"`, for files that are larger than other bodies. */
  const guards = new Elysia({ name: "portable.backend.guards" }).macro({
    importing: (_: true) => ({
      ...guarded(async ({ request }) => {
        callers.set(request, await identities.authorize(request, IMPORT));
        files.enter(request);
      }),
      afterResponse: ({ request }: Context) => files.leave(request),
      detail: guardedBy(["serviceToken", "session", "apiKey"], { 403: "MISSING_SCOPE" }),
      resolve: async ({ request }: Context) => ({
        caller: callers.get(request) ?? (await identities.authorize(request, IMPORT)),
      }),
    }),
  });
  return new Elysia({ name: "portable.backend" }).use(guards).post(
    "/api/agents/import",
    async ({ caller: { userId, isAdmin }, request, status }) => {
      const text = contextOf(request).bodyText ?? "";
      const agent = await portables.make({ userId, isAdmin }, text.trim() === "" ? "{}" : text);
      return status(201, agents.views.provisioned(agent));
    },
    {
      importing: true,
      response: { 201: provisioned },
      detail: { ...importDetail, ...mayAnswer(importErrors) },
    },
  );
}

/** The pieces as they are asked for: what nobody reads is not made. */
function streamOf(pieces: AsyncGenerator<string, void>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream({
    async pull(controller) {
      const { value, done } = await pieces.next();
      if (done) controller.close();
      else controller.enqueue(encoder.encode(value));
    },
    async cancel() {
      await pieces.return();
    },
  });
}

/** A name for the file that every browser takes (RFC 6266), and the right one for those that know RFC 5987. */
export function attachment(name: string): string {
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
