// Agents: what each one is, how it is configured, its secrets and its log, and whose it is.
import { Elysia } from "elysia";
import { plugin } from "../../src/kernel/plugin.ts";
import { auth } from "../auth/index.ts";
import { createAgentGuards, operationInProgress } from "./agent-guards.ts";
import { createAgentHooks } from "./agent-hooks.ts";
import { agentNotFound, createAgentStore } from "./agent-store.ts";
import { backendRoutes } from "./backend-routes.ts";
import { createBackupRows } from "./backup-rows.ts";
import { createConfigStore } from "./configuration/config-store.ts";
import { createCredentialStore } from "./credential-store.ts";
import { logRoutes } from "./logs/log-routes.ts";
import { createLogStore } from "./logs/log-store.ts";
import { createLogStream } from "./logs/log-stream.ts";
import { createViews } from "./model.ts";
import { createAccountDeletionHook } from "./ownership/account-deletion.ts";
import { createOwnershipTransfer } from "./ownership/ownership-transfer.ts";
import { createProvisioner } from "./ownership/provisioner.ts";
import { createVerificationStore } from "./ownership/verification-store.ts";
import { webRoutes } from "./web-routes.ts";

export type { AgentCallOptions, AgentRouteKind, OwnAgentOptions } from "./agent-guards.ts";
export { type Agent, type AgentStatus, agentNotFound, isAgentId, type ModelChoice } from "./agent-store.ts";
export type { BackupTableRows, BackupTables } from "./backup-rows.ts";
export { configErrors, extractConfigText } from "./configuration/config-response.ts";
export type {
  AgentSettings,
  Approval,
  ChannelSettings,
  McpServerSettings,
  ScheduleSettings,
} from "./configuration/settings.ts";
export {
  CREDENTIAL_KINDS,
  type CredentialKind,
  type CredentialOwner,
  type CredentialsSummary,
} from "./credential-store.ts";
export type { LogLevel, LogLine } from "./logs/log-store.ts";
export { agentDetail, agentResponse, provisionedResponse, provisioningErrors } from "./model.ts";
export { AGENT_OWNER_SQL } from "./ownership/ownership-transfer.ts";
export type { NewAgent, NewAgentRow } from "./ownership/provisioner.ts";
export { RUNTIME_VERSION } from "./runtime-version.ts";

const HOUR = 3_600_000;

export const agents = plugin("agents", (host) => {
  const { kernel } = host;
  const accounts = host.use(auth);
  const { identities } = accounts;
  const hooks = createAgentHooks(kernel.log);
  const agentStore = createAgentStore({ ...kernel, hooks });
  const configs = createConfigStore({ ...kernel, hooks });
  const credentials = createCredentialStore({ ...kernel, agents: agentStore, hooks });
  const logs = createLogStore({ ...kernel, hooks });
  const provision = createProvisioner({ ...kernel, agents: agentStore, configs });
  const ownershipTransfer = createOwnershipTransfer({ ...kernel, agents: agentStore, hooks });
  const updateChecks: ((agentId: string) => boolean)[] = [];
  const isUpdating = (agentId: string) => updateChecks.some((predicate) => predicate(agentId));
  const guards = createAgentGuards(identities, agentStore, isUpdating);
  const views = createViews(kernel.config);
  const { onSessionRevoked } = accounts;
  const logStream = createLogStream({
    ...kernel,
    identities,
    onSessionRevoked,
    agents: agentStore,
    hooks,
    logs,
    views,
  });

  const logSurfaces = logRoutes({ ...kernel, identities, guards, logs, logStream, views });

  accounts.beforeDeletion(createAccountDeletionHook({ ...kernel, identities, agents: agentStore }));
  // Calls under a stranger's key are seen by the stranger.
  accounts.onAccountReclaim((userId) => [credentials.forgetStatement(userId)]);
  kernel.jobs.every("agents.expire-logs", HOUR, () => logs.deleteExpired());

  return {
    service: {
      find: agentStore.find,
      findBySubdomain: agentStore.findBySubdomain,
      list: agentStore.list,
      resolveCurrent: agentStore.resolveCurrent,
      setStatus: agentStore.setStatus,
      listToReconcile: agentStore.listToReconcile,
      remove: agentStore.remove,
      provision,
      transfer: ownershipTransfer.transfer,
      onTransfer: ownershipTransfer.onTransfer,
      settings: configs.settings,
      configText: configs.text,
      saveConfig: configs.save,
      credentials,
      backupRows: createBackupRows({ ...kernel, hooks, credentials }),
      log: logs.add,
      logs,
      /** Bytes held in memory for an agent: its row, settings and credentials. */
      memoryBytes: (agentId: string) =>
        agentStore.memoryBytes(agentId) + configs.memoryBytes(agentId) + credentials.memoryBytes(agentId),
      onChange: hooks.onChange,
      onConfigured: hooks.onConfigured,
      beforeDelete: hooks.beforeDelete,
      onDelete: hooks.onDelete,
      /** Route macros: `ownAgent` on the web, `agentCall` on the backend. */
      guards,
      /** Who knows of an update under way, which may put back what was changed meanwhile: such changes are refused. */
      refuseChangesWhile: (predicate: (agentId: string) => boolean) => void updateChecks.push(predicate),
      /** What the guards of a change ask, for one that took long: 404 `AGENT_NOT_FOUND`, 409 `OPERATION_IN_PROGRESS`. */
      async recheckOwnership(agentId: string, userId: string): Promise<void> {
        if ((await agentStore.find(agentId))?.userId !== userId) throw agentNotFound();
        if (isUpdating(agentId)) throw operationInProgress();
      },
      views,
      verification: createVerificationStore({ ...kernel, hooks }),
    },
    web: new Elysia({ name: "agents.all" })
      .use(webRoutes({ ...kernel, identities, guards, agents: agentStore, configs, views }))
      .use(logSurfaces.web),
    backend: new Elysia({ name: "agents.backend.all" })
      .use(backendRoutes({ accounts, guards, agents: agentStore, configs, provision, views }))
      .use(logSurfaces.backend),
    // None; but streams are like them: they are ended at a stop also where no background work runs.
    sockets: [],
    async stop() {
      logStream.close();
      await logs.flush();
    },
  };
});
