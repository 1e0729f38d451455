// Routes by which a deployment finds out which secrets of an agent have to change, without reading any.
import { Elysia, t } from "elysia";
import type { BackendTransport } from "../../../src/kernel/http/backend/backend-transport.ts";
import { forwardToBackend } from "../../../src/kernel/http/backend/forward-to-backend.ts";
import { documentErrors } from "../../../src/kernel/http/openapi/route-documentation.ts";
import type { Kernel } from "../../../src/kernel/plugin.ts";
import type { auth, Identity } from "../../auth/index.ts";
import type { createAgentGuards } from "../agent-guards.ts";
import type { CredentialStore } from "../credential-store.ts";

interface Deps {
  guards: ReturnType<typeof createAgentGuards>;
}
interface WebDeps extends Deps {
  backend: BackendTransport;
  identities: Pick<ReturnType<typeof auth.setup>["service"]["identities"], "createGrant">;
}
interface BackendDeps extends Deps, Pick<Kernel, "limits"> {
  credentials: Pick<CredentialStore, "ownKinds" | "isStored">;
}

const PATH = "/api/agents/:id/credentials/compare";
const ACTION = "agent.credential";
const body = t.Object({
  values: t.Record(t.String({ maxLength: 64 }), t.String({ maxLength: 8_192 }), {
    maxProperties: 100,
    description: "Secrets by their keys, to be compared",
    error: "Give up to 100 credentials by their keys.",
    examples: [{ DOCS_TOKEN: "s3cret" }],
  }),
});
const compared = t.Object({
  stored: t.Array(t.String(), {
    description:
      "The keys under which the agent has a secret of its own: of providers, of channels, and names of yours",
  }),
  matching: t.Array(t.String(), { description: "Those of `values` that are stored exactly so" }),
});
const detail = {
  tags: ["Agents"],
  summary: "Compare secrets with those that an agent has",
  description:
    "For programs that store only what has changed. No secret is returned; the scope is that of storing one.",
};

export const webRoutes = ({ backend, identities, guards }: WebDeps) =>
  new Elysia({ name: "agents.credentials" }).use(guards).post(
    PATH,
    ({ agent, identity, request }: { agent: { id: string }; identity: Identity; request: Request }) => {
      const grant = identities.createGrant(identity, request, ACTION, agent.id);
      return forwardToBackend(backend, grant, request, `/api/agents/${agent.id}/credentials/compare`, {
        responseHeaders: ({ status }) => (status === 429 ? ["retry-after", "ratelimit", "ratelimit-policy"] : []),
      });
    },
    {
      ownAgent: { scope: "write", kind: "data" },
      body,
      response: { 200: compared },
      detail: { ...detail, ...documentErrors({ 429: "RATE_LIMITED", 502: "BACKEND_UNAVAILABLE" }) },
    },
  );

export const backendRoutes = ({ limits, guards, credentials }: BackendDeps) =>
  new Elysia({ name: "agents.credentials.backend" }).use(guards).post(
    PATH,
    async ({ agent, caller, body: { values } }) => {
      // Nobody finds a secret by trying.
      await limits.takeOrThrow("credential-compare", caller.userId);
      const stored = await credentials.ownKinds(agent.id);
      const given = Object.entries(values).filter(([key]) => stored.includes(key));
      const isSame = await Promise.all(given.map(([key, value]) => credentials.isStored(agent.id, key, value)));
      return { stored, matching: given.flatMap(([key], index) => (isSame[index] ? [key] : [])) };
    },
    {
      agentCall: { action: ACTION, scope: "write" },
      body,
      response: { 200: compared },
      detail: { ...detail, ...documentErrors({ 429: "RATE_LIMITED" }) },
    },
  );
