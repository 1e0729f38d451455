// The routes of portable agents: exported by the web surface, made by the backend.
import { Elysia, type TSchema } from "elysia";
import { type BackendTransport, passOn } from "../../src/backend.ts";
import { AppError } from "../../src/errors.ts";
import { contextOf, guarded, MAX_BODY_BYTES } from "../../src/http.ts";
import type { Idempotency } from "../../src/idempotency.ts";
import { answers, guardedBy, mayAnswer } from "../../src/openapi/told.ts";
import type { ServiceOf } from "../../src/plugin.ts";
import { type agents as agentsPlugin, provisioned, provisioningErrors } from "../agents/index.ts";
import type { auth } from "../auth/index.ts";
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

const tags = ["Agents"];
const importErrors = {
  ...provisioningErrors,
  400: ["UNKNOWN_FORMAT", "INVALID_CONFIG", "CONFIG_TOO_LARGE", "SECRET_IN_CONFIG"],
  409: "AGENT_GONE",
};
const schema: TSchema = portable;
const requestBody = { required: true, content: { "application/json": { schema } } };
const importDetail = {
  tags,
  summary: "Make an agent from an exported one",
  description:
    "Takes what `GET /api/agents/:id/export` gave. The new agent has the same configuration, byte for byte, the same " +
    "memories, skills, reminders and sessions, under ids of its own, and no credentials or channels. The rules of " +
    "provisioning hold. A file of more than 1 MiB is refused: export it with `history=0`.",
  requestBody,
};

export function portableWebRoutes({ backend, idempotency, identities, agents, portables }: WebDeps) {
  /** As `signedIn: "write"`, with advice for a file that is too large. */
  const guards = new Elysia({ name: "portable.guards" }).macro({
    importing: (_: true) => ({
      ...guarded(async ({ request }) => {
        await identities.authenticate(request, "write");
        if (Number(request.headers.get("content-length")) > MAX_BODY_BYTES) throw tooLarge();
      }),
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
        idempotency.respond({ request, userId: identity.user.id }, async () =>
          passOn(
            await backend.fetch(identities.grant(identity, request, "agent.import"), "/api/agents/import", {
              method: "POST",
              body: contextOf(request).bodyText ?? "",
              headers: { "content-type": "application/json" },
            }),
          ),
        ),
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
  return new Elysia({ name: "portable.backend" }).use(identities.guards).post(
    "/api/agents/import",
    async ({ caller: { userId, isAdmin }, request, status }) => {
      const text = contextOf(request).bodyText ?? "";
      const agent = await portables.make({ userId, isAdmin }, text.trim() === "" ? "{}" : text);
      return status(201, agents.views.provisioned(agent));
    },
    {
      granted: "agent.import",
      response: { 201: provisioned },
      detail: { ...importDetail, ...mayAnswer(importErrors) },
    },
  );
}

const tooLarge = () =>
  new AppError(
    413,
    "BODY_TOO_LARGE",
    "This file is larger than 1 MiB. Export the agent without its history: ?history=0.",
  );

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
