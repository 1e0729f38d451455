// A deployment: an agent's configuration saved, and the agent brought up, in one request.
import { Elysia, t } from "elysia";
import { forwardResponse } from "../../src/kernel/http/backend/backend-response.ts";
import type { BackendTransport } from "../../src/kernel/http/backend/backend-transport.ts";
import type { Idempotency } from "../../src/kernel/http/idempotency.ts";
import { documentErrors } from "../../src/kernel/http/openapi/route-documentation.ts";
import { contextOf } from "../../src/kernel/http/request-context.ts";
import type { ServiceOf } from "../../src/kernel/plugin.ts";
import {
  agentDetail,
  agentNotFound,
  type agents as agentsPlugin,
  configErrors,
  extractConfigText,
} from "../agents/index.ts";
import type { auth } from "../auth/index.ts";
import type { Operations } from "./operations.ts";

type AgentService = ServiceOf<typeof agentsPlugin>;
type AuthService = ServiceOf<typeof auth>;

const DEPLOY_ACTION = "agent.deploy";
const tags = ["Life cycle"];
const config = t.Optional(t.Any({ description: "A JSON object, kept as it is; left out, the one there is stays" }));
const deployResponse = t.Object({ success: t.Literal(true), agent: agentDetail, status: t.String() });
const errors = { ...configErrors, 409: ["OPERATION_IN_PROGRESS", "ACCOUNT_DISABLED"], 500: "UNHEALTHY" };
const description =
  "The configuration is saved as `PUT /api/agents/:id/config` does, then the agent is started where it is not up: 201, " +
  "or 200 where it was already. One that does not come up keeps the new configuration, and is tried again.";

interface BackendDeps {
  users: Pick<AuthService["users"], "byId">;
  agents: Pick<AgentService, "find" | "guards" | "saveConfig" | "views">;
  operations: Pick<Operations, "start">;
}

export const deploymentBackendRoutes = ({ users, agents, operations }: BackendDeps) =>
  new Elysia({ name: "deployments.backend" }).use(agents.guards).post(
    "/api/agents/:id/deploy",
    async ({ agent: { id, userId }, request, status }) => {
      const text = extractConfigText(contextOf(request).bodyText);
      if (text !== undefined) await agents.saveConfig(id, text);
      const before = await agents.find(id);
      if (!before) throw agentNotFound();
      const isUp = before.status === "running" || before.status === "active";
      const after = isUp ? before : await operations.start(id);
      const agent = agents.views.detail(after, (await users.byId(userId))?.plan ?? "free");
      return status(isUp ? 200 : 201, { success: true as const, agent, status: after.status });
    },
    {
      agentCall: { action: DEPLOY_ACTION, changes: true },
      body: t.Object({ config }),
      response: { 200: deployResponse, 201: deployResponse },
      detail: {
        tags,
        summary: "Save an agent's configuration and bring it up",
        description,
        ...documentErrors(errors),
      },
    },
  );

interface WebDeps {
  backend: BackendTransport;
  idempotency: Idempotency;
  identities: AuthService["identities"];
  agents: Pick<AgentService, "find">;
}

export const deploymentWebRoutes = ({ backend, idempotency, identities, agents }: WebDeps) =>
  new Elysia({ name: "deployments.web" }).use(identities.guards).post(
    "/api/deployments",
    ({ body: { agentId }, identity, request }) =>
      idempotency.respond({ request, userId: identity.user.id }, async () => {
        const agent = await agents.find(agentId);
        if (agent?.userId !== identity.user.id) throw agentNotFound();
        const granted = identities.createGrant(identity, request, DEPLOY_ACTION, agent.id);
        // The configuration is kept byte for byte, so the body goes on as it came.
        const body = contextOf(request).bodyText ?? "";
        const headers = { "content-type": "application/json" };
        return forwardResponse(
          await backend.fetch(granted, `/api/agents/${agent.id}/deploy`, { method: "POST", body, headers }),
        );
      }),
    {
      signedIn: "write",
      body: t.Object({
        agentId: t.String({ minLength: 1, maxLength: 100, error: "Name one of your agents by its id." }),
        config,
      }),
      response: { 200: deployResponse, 201: deployResponse },
      detail: {
        tags,
        summary: "Save an agent's configuration and bring it up",
        description,
        ...documentErrors({
          ...errors,
          404: "AGENT_NOT_FOUND",
          409: ["OPERATION_IN_PROGRESS", "ACCOUNT_DISABLED", "IDEMPOTENCY_MISMATCH", "IDEMPOTENCY_IN_PROGRESS"],
          502: "BACKEND_UNAVAILABLE",
        }),
      },
    },
  );
