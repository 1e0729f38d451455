// Routes of deployments: one request saves an agent's configuration and starts the agent.
import { Elysia, t } from "elysia";
import type { BackendTransport } from "../../src/kernel/http/backend/backend-transport.ts";
import { forwardToBackend } from "../../src/kernel/http/backend/forward-to-backend.ts";
import type { Idempotency } from "../../src/kernel/http/idempotency.ts";
import { documentErrors } from "../../src/kernel/http/openapi/route-documentation.ts";
import { contextOf } from "../../src/kernel/http/request-context.ts";
import type { ServiceOf } from "../../src/kernel/plugin.ts";
import {
  agentDetail,
  agentNotFound,
  type agents as agentsPlugin,
  configErrors,
  configField,
  extractConfigText,
  isUp,
  warningsField,
  warningsMember,
} from "../agents/index.ts";
import type { auth } from "../auth/index.ts";
import type { Operations } from "./operations.ts";

type AgentService = ServiceOf<typeof agentsPlugin>;
type AuthService = ServiceOf<typeof auth>;

const DEPLOY_ACTION = "agent.deploy";
const tags = ["Life cycle"];
const deployResponse = t.Object({
  success: t.Literal(true),
  agent: agentDetail,
  status: t.String(),
  warnings: warningsField,
});
const errors = {
  ...configErrors,
  409: ["OPERATION_IN_PROGRESS", "ACCOUNT_DISABLED", "AGENT_FROZEN"],
  500: "UNHEALTHY",
};
const description =
  "The configuration, if there is one, is saved as `PUT /api/agents/:id/config` does, then the agent is started: 201, or 200 if it was up " +
  "already. An agent that does not come up keeps the new configuration, and its start is retried.";

interface BackendDeps {
  users: Pick<AuthService["users"], "byId">;
  agents: Pick<AgentService, "require" | "guards" | "saveConfig" | "configWarnings" | "views">;
  operations: Pick<Operations, "start">;
}

export const deploymentBackendRoutes = ({ users, agents, operations }: BackendDeps) =>
  new Elysia({ name: "deployments.backend" }).use(agents.guards).post(
    "/api/agents/:id/deploy",
    async ({ agent: { id, userId }, request, status }) => {
      const text = extractConfigText(contextOf(request).bodyText);
      if (text !== undefined) await agents.saveConfig(id, text);
      const before = await agents.require(id);
      const wasUp = isUp(before.status);
      const after = wasUp ? before : await operations.start(id);
      const agent = agents.views.detail(after, (await users.byId(userId))?.plan ?? "free");
      const warnings = warningsMember(text === undefined ? [] : await agents.configWarnings(id, text));
      return status(wasUp ? 200 : 201, { success: true as const, agent, status: after.status, ...warnings });
    },
    {
      agentCall: { action: DEPLOY_ACTION, changes: true },
      // The web passes its body on as it came; the address names the agent.
      body: t.Object({ agentId: t.Optional(t.Unknown()), config: configField() }),
      response: { 200: deployResponse, 201: deployResponse },
      detail: {
        tags,
        summary: "Save an agent's configuration and start it",
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
        return forwardToBackend(backend, granted, request, `/api/agents/${agent.id}/deploy`);
      }),
    {
      signedIn: "write",
      body: t.Object({
        agentId: t.String({ minLength: 1, maxLength: 100, error: "Name one of your agents by its id." }),
        config: configField(),
      }),
      response: { 200: deployResponse, 201: deployResponse },
      detail: {
        tags,
        summary: "Save an agent's configuration and start it",
        description,
        ...documentErrors({
          ...errors,
          404: "AGENT_NOT_FOUND",
          409: [
            "OPERATION_IN_PROGRESS",
            "ACCOUNT_DISABLED",
            "AGENT_FROZEN",
            "IDEMPOTENCY_MISMATCH",
            "IDEMPOTENCY_IN_PROGRESS",
          ],
          502: "BACKEND_UNAVAILABLE",
        }),
      },
    },
  );
