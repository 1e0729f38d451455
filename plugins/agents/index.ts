// Agents: what each one is, how it is configured, its secrets and its log, and whose it is.
import { plugin } from "../../src/plugin.ts";
import { auth } from "../auth/index.ts";
import { createAgents } from "./agents.ts";
import { backendRoutes } from "./backend.ts";
import { createChanges } from "./changes.ts";
import { createConfigs } from "./configs.ts";
import { createCredentials } from "./credentials.ts";
import { createAgentGuards } from "./guards.ts";
import { createLogs } from "./logs.ts";
import { createViews } from "./model.ts";
import { createProvision } from "./provision.ts";
import { webRoutes } from "./web.ts";

export type { Agent, AgentStatus, ModelChoice } from "./agents.ts";
export { CREDENTIAL_KINDS, type CredentialKind, type CredentialOwner, type CredentialsSummary } from "./credentials.ts";
export type { AgentCall, AgentRouteKind, OwnAgent } from "./guards.ts";
export type { LogLevel, LogLine } from "./logs.ts";
export { readLimit, readOffset } from "./paging.ts";
export type { NewAgent } from "./provision.ts";
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
  const guards = createAgentGuards(identities, rows);
  const views = createViews(kernel.config);

  kernel.jobs.every("agents.expire-logs", HOUR, () => logs.expire());

  return {
    service: {
      find: rows.find,
      list: rows.list,
      current: rows.current,
      setStatus: rows.setStatus,
      remove: rows.remove,
      provision,
      settings: configs.settings,
      configText: configs.text,
      saveConfig: configs.save,
      credentials,
      log: logs.add,
      logs,
      onChange: changes.onChange,
      onDelete: changes.onDelete,
      /** Route macros: `ownAgent` on the web, `agentCall` on the backend. */
      guards,
      views,
    },
    web: webRoutes({ ...kernel, identities, guards, agents: rows, configs, logs, views }),
    backend: backendRoutes({ accounts, guards, agents: rows, configs, provision, views }),
    stop: logs.flush,
  };
});
