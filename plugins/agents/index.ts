// The plugin of agents: their rows, configurations, credentials and logs, and their owners.
import type { Issue } from "../../src/kernel/errors.ts";
import { schemaFileRoute } from "../../src/kernel/http/openapi/schema-file.ts";
import { plugin } from "../../src/kernel/plugin.ts";
import { retentionSettings } from "../../src/kernel/retention/settings.ts";
import { perMinute } from "../../src/kernel/security/rate-limits/rate-limiter.ts";
import { once } from "../../src/kernel/util/cache.ts";
import { auth } from "../auth/index.ts";
import { createAgentGuards, operationInProgress } from "./agent-guards.ts";
import { createAgentHooks } from "./agent-hooks.ts";
import { createAgentList } from "./agent-list.ts";
import { agentNotFound, createAgentStore, type ModelChoice } from "./agent-store.ts";
import { createBackupRows } from "./backup-rows.ts";
import { createConfigStore } from "./configuration/config-store.ts";
import { createCredentialStore } from "./credential-store.ts";
import { createFreezing } from "./freezing.ts";
import { logsKind } from "./logs/log-retention.ts";
import { createLogStore } from "./logs/log-store.ts";
import { createLogStream } from "./logs/log-stream.ts";
import { createViews } from "./model.ts";
import { createAccountDeletionHook } from "./ownership/account-deletion.ts";
import { joinAccountMoves } from "./ownership/account-moves.ts";
import { createAgentQuota } from "./ownership/agent-quota.ts";
import { createOwnershipTransfer } from "./ownership/ownership-transfer.ts";
import { createProvisioner } from "./ownership/provisioner.ts";
import { createVerificationStore } from "./ownership/verification-store.ts";

export {
  type AgentCallOptions,
  type AgentRouteKind,
  FAILURE_BODY,
  type OwnAgentOptions,
  operationInProgress,
} from "./agent-guards.ts";
export type { AgentListOrder, ListedAgent } from "./agent-list.ts";
export { type Agent, type AgentStatus, agentNotFound, isAgentId, isUp, type ModelChoice } from "./agent-store.ts";
export type { BackupTableRows, BackupTables } from "./backup-rows.ts";
export { unknownName } from "./configuration/config-check.ts";
export {
  configErrors,
  configField,
  extractConfigText,
  warningsField,
  warningsMember,
} from "./configuration/config-response.ts";
export type { McpServerSettings, RemoteAgentSettings } from "./configuration/nested-settings.ts";
export type { ScheduleSettings } from "./configuration/schedule-settings.ts";
export { secretShapes } from "./configuration/secret-detection.ts";
export type { AgentSettings, Approval, ChannelSettings, CurrentSettings } from "./configuration/settings.ts";
export type {
  CredentialKind,
  CredentialOwner,
  CredentialsSummary,
} from "./credential-store.ts";
export { agentFrozenError, isFrozen, takesMessages, unfrozenStatus } from "./freezing.ts";
export { fillCredentials, findMissingCredentials } from "./header-credentials.ts";
export type { LogLevel, LogLine } from "./logs/log-store.ts";
export { agentDetail, agentResponse, logLine, provisionedResponse, provisioningErrors } from "./model.ts";
export { AGENT_OWNER_SQL } from "./ownership/ownership-transfer.ts";
export type { NewAgent, NewAgentRow } from "./ownership/provisioner.ts";
export { RUNTIME_VERSION } from "./runtime-version.ts";

export const agents = plugin("agents", (host) => {
  const { kernel } = host;
  const authService = host.use(auth);
  const { identities } = authService;
  const hooks = createAgentHooks(kernel.log);
  const agentStore = createAgentStore({ ...kernel, hooks });
  const logs = createLogStore({ ...kernel, hooks });
  const configs = createConfigStore({ ...kernel, hooks, logs });
  const credentials = createCredentialStore({ ...kernel, agents: agentStore, hooks });
  const quota = createAgentQuota(kernel);
  const provision = createProvisioner({ ...kernel, agents: agentStore, quota, configs, logs });
  const ownershipTransfer = createOwnershipTransfer({ ...kernel, agents: agentStore, quota, hooks, logs });
  const freezing = createFreezing({ ...kernel, agents: agentStore, hooks, logs });
  const updateChecks: ((agentId: string) => boolean)[] = [];
  const isUpdating = (agentId: string) => updateChecks.some((predicate) => predicate(agentId));
  const guards = createAgentGuards(identities, agentStore, isUpdating);
  const views = createViews(kernel.config);
  const { onSessionRevoked } = authService;
  const logStream = createLogStream({
    ...kernel,
    identities,
    onSessionRevoked,
    agents: agentStore,
    hooks,
    logs,
    views,
  });

  const logSurfaces = once(async () =>
    (await import("./logs/log-routes.ts")).logRoutes({ ...kernel, identities, guards, logs, logStream, views }),
  );

  configs.registerCheck(async (agentId, { model }) => findUnusedModel((await agentStore.find(agentId))?.model, model));
  authService.beforeDeletion(createAccountDeletionHook({ ...kernel, identities, agents: agentStore }));
  // A stranger can watch the calls that are made with the stranger's key.
  authService.onAccountReclaim((userId) => [credentials.forgetStatement(userId)]);
  authService.administration.onFrozen(freezing.ownerStatements);
  if (kernel.cells) joinAccountMoves(kernel.cells, { ...kernel, hooks, agents: agentStore, logs, freezing });
  kernel.retention.register(logsKind(kernel.database, kernel.config.of(retentionSettings).logs));

  return {
    service: {
      find: agentStore.find,
      require: agentStore.require,
      findBySubdomain: agentStore.findBySubdomain,
      list: agentStore.list,
      page: agentStore.page,
      count: agentStore.count,
      ...createAgentList(kernel),
      configuredModels: configs.modelsOf,
      resolveCurrent: agentStore.resolveCurrent,
      setStatus: agentStore.setStatus,
      freeze: freezing.freeze,
      unfreeze: freezing.unfreeze,
      onFreezeChanged: freezing.onFreezeChanged,
      listToReconcile: agentStore.listToReconcile,
      remove: agentStore.remove,
      provision,
      /** Throws the errors of `provision` for an owner who may not have one more agent. */
      requireQuota: quota.require,
      transfer: ownershipTransfer.transfer,
      onTransfer: ownershipTransfer.onTransfer,
      settings: configs.settings,
      configText: configs.text,
      listBudgeted: configs.listBudgeted,
      saveConfig: configs.save,
      saveRepairedConfig: configs.saveRepaired,
      editConfig: configs.edit,
      configWarnings: configs.warnings,
      registerConfigCheck: configs.registerCheck,
      registerConfigEffects: configs.registerEffects,
      requireValidConfig: configs.requireValid,
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
      /**
       * Adds a check for an update under way: while it is true, changes that undoing the update would lose are refused.
       */
      refuseChangesWhile: (predicate: (agentId: string) => boolean) => void updateChecks.push(predicate),
      /**
       * Repeats the checks of a change's guards after long work: throws 404 `AGENT_NOT_FOUND`, 409
       * `OPERATION_IN_PROGRESS`.
       */
      async recheckOwnership(agentId: string, userId: string): Promise<void> {
        if ((await agentStore.find(agentId))?.userId !== userId) throw agentNotFound();
        if (isUpdating(agentId)) throw operationInProgress();
      },
      views,
      verification: createVerificationStore({ ...kernel, hooks }),
    },
    web: schemaFileRoute({
      path: "/schemas/agent.json",
      tag: "Agents",
      summary: "The JSON Schema of agent.json, the file of `berth deploy`",
      operationId: "getAgentFileSchema",
      schema: async () =>
        (await import("./as-code/agent-file-schema.ts")).agentFileSchema(new URL(kernel.config.baseUrl).origin),
    }),
    lateRoutes: {
      web: [
        async () =>
          (await import("./web-routes.ts")).webRoutes({
            ...kernel,
            identities,
            guards,
            agents: agentStore,
            configs,
            views,
          }),
        async () => (await import("./templates/template-routes.ts")).templateRoutes({ identities }),
        async () => (await logSurfaces()).web,
        async () => (await import("./as-code/credential-routes.ts")).webRoutes({ ...kernel, identities, guards }),
      ],
      backend: [
        async () =>
          (await import("./backend-routes.ts")).backendRoutes({
            authService,
            guards,
            agents: agentStore,
            configs,
            provision,
            views,
          }),
        async () => (await logSurfaces()).backend,
        async () => (await import("./as-code/credential-routes.ts")).backendRoutes({ ...kernel, guards, credentials }),
      ],
    },
    rateLimitRules: { "credential-compare": { rates: [perMinute(60)] } },
    // Empty: a plugin with `sockets` is stopped last, and also where its `start` was never called, as log streams need.
    sockets: [],
    async stop() {
      logStream.close();
      await logs.flush();
    },
  };
});

/** The choice `custom` and a model in the configuration have an effect only together. */
function findUnusedModel(choice: ModelChoice | undefined, configModel: string | undefined): Issue[] {
  if ((choice === "custom") === (configModel !== undefined)) return [];
  const message =
    choice === "custom"
      ? 'The agent\'s own "model" is "custom", but its configuration names none: the default model answers.'
      : 'This is used only if the agent\'s own "model" is "custom".';
  return [{ path: "model", message }];
}
