// Agents: what each one is, how it is configured, its secrets and its log, and whose it is.
import { Elysia } from "elysia";
import { plugin } from "../../src/plugin.ts";
import { auth } from "../auth/index.ts";
import { agentsGoWithAccount } from "./account-deletion.ts";
import { createAgents, noSuchAgent } from "./agents.ts";
import { backendRoutes } from "./backend.ts";
import { createChanges } from "./changes.ts";
import { createConfigs } from "./configs.ts";
import { createCredentials } from "./credentials.ts";
import { createEstate } from "./estate.ts";
import { beingUpdated, createAgentGuards } from "./guards.ts";
import { logRoutes } from "./log-routes.ts";
import { createLogStream } from "./log-stream.ts";
import { createLogs } from "./logs.ts";
import { createViews } from "./model.ts";
import { createMoving } from "./moving.ts";
import { createProvision } from "./provision.ts";
import { createVerifications } from "./verification.ts";
import { webRoutes } from "./web.ts";

export { type Agent, type AgentStatus, isAgentId, type ModelChoice, noSuchAgent } from "./agents.ts";
export { configErrors, configIn } from "./config-answer.ts";
export { CREDENTIAL_KINDS, type CredentialKind, type CredentialOwner, type CredentialsSummary } from "./credentials.ts";
export type { Parts, Rows } from "./estate.ts";
export type { AgentCall, AgentRouteKind, OwnAgent } from "./guards.ts";
export type { LogLevel, LogLine } from "./logs.ts";
export { agentAnswer, agentDetail, provisioned, provisioningErrors } from "./model.ts";
export { OWNER_OF } from "./moving.ts";
export type { NewAgent, NewRow } from "./provision.ts";
export { RUNTIME_VERSION } from "./runtime-version.ts";
export type { AgentSettings, Approval, ChannelSettings, McpServerSettings, ScheduleSettings } from "./settings.ts";

const HOUR = 3_600_000;

export const agents = plugin("agents", (host) => {
  const { kernel } = host;
  const accounts = host.use(auth);
  const { identities } = accounts;
  const changes = createChanges(kernel.log);
  const rows = createAgents({ ...kernel, changes });
  const configs = createConfigs({ ...kernel, changes });
  const credentials = createCredentials({ ...kernel, agents: rows, changes });
  const logs = createLogs({ ...kernel, changes });
  const provision = createProvision({ ...kernel, agents: rows, configs });
  const moving = createMoving({ ...kernel, agents: rows, changes });
  const updating: ((agentId: string) => boolean)[] = [];
  const isUpdating = (agentId: string) => updating.some((is) => is(agentId));
  const guards = createAgentGuards(identities, rows, isUpdating);
  const views = createViews(kernel.config);
  const { onSessionRevoked } = accounts;
  const logStream = createLogStream({ ...kernel, identities, onSessionRevoked, agents: rows, changes, logs, views });

  const ofLogs = logRoutes({ ...kernel, identities, guards, logs, logStream, views });

  accounts.beforeDeletion(agentsGoWithAccount({ ...kernel, identities, agents: rows }));
  // Calls under a stranger's key are seen by the stranger.
  accounts.onTakeover((userId) => [credentials.forget(userId)]);
  kernel.jobs.every("agents.expire-logs", HOUR, () => logs.expire());

  return {
    service: {
      find: rows.find,
      bySubdomain: rows.bySubdomain,
      list: rows.list,
      current: rows.current,
      setStatus: rows.setStatus,
      troubled: rows.troubled,
      remove: rows.remove,
      provision,
      move: moving.move,
      onMove: moving.onMove,
      settings: configs.settings,
      configText: configs.text,
      saveConfig: configs.save,
      credentials,
      estate: createEstate({ ...kernel, changes, credentials }),
      log: logs.add,
      logs,
      /** Bytes held in memory for an agent: its row, settings and credentials. */
      held: (agentId: string) => rows.held(agentId) + configs.held(agentId) + credentials.held(agentId),
      onChange: changes.onChange,
      onConfigured: changes.onConfigured,
      beforeDelete: changes.beforeDelete,
      onDelete: changes.onDelete,
      /** Route macros: `ownAgent` on the web, `agentCall` on the backend. */
      guards,
      /** Who knows of an update under way, which may put back what was changed meanwhile: such changes are refused. */
      refuseChangesWhile: (is: (agentId: string) => boolean) => void updating.push(is),
      /** What the guards of a change ask, for one that took long: 404 `AGENT_NOT_FOUND`, 409 `OPERATION_IN_PROGRESS`. */
      async requireStillOwn(agentId: string, userId: string): Promise<void> {
        if ((await rows.find(agentId))?.userId !== userId) throw noSuchAgent();
        if (isUpdating(agentId)) throw beingUpdated();
      },
      views,
      verification: createVerifications({ ...kernel, changes }),
    },
    web: new Elysia({ name: "agents.all" })
      .use(webRoutes({ ...kernel, identities, guards, agents: rows, configs, views }))
      .use(ofLogs.web),
    backend: new Elysia({ name: "agents.backend.all" })
      .use(backendRoutes({ accounts, guards, agents: rows, configs, provision, views }))
      .use(ofLogs.backend),
    // None; but streams are like them: they are ended at a stop also where no background work runs.
    sockets: [],
    async stop() {
      logStream.close();
      await logs.flush();
    },
  };
});
