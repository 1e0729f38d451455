// The plugin of the agents' life cycle: operations from start to reset-memory, retries, backups, export and import.
import { lateCommands } from "../../src/kernel/late-commands.ts";
import { plugin } from "../../src/kernel/plugin.ts";
import { once } from "../../src/kernel/util/cache.ts";
import { createKeyedQueue } from "../../src/kernel/util/keyed-queue.ts";
import { agents } from "../agents/index.ts";
import { ai } from "../ai/index.ts";
import { auth } from "../auth/index.ts";
import { channels } from "../channels/index.ts";
import { runtime } from "../runtime/index.ts";
import { createAgentBackups } from "./backups/agent-backups.ts";
import { createHealthCheck } from "./health-check.ts";
import type { ImportExport } from "./import-export/import-export.ts";
import { createModelRepair } from "./model-repair.ts";
import { createOperations } from "./operations.ts";
import { stopAgentsWithOwner } from "./owner-account.ts";
import { createRuntimeRegistry } from "./runtime-registry.ts";
import { createUpdateJournal } from "./updates/update-journal.ts";

export { withFailureBody } from "./failure-body.ts";
export type { Runtime } from "./runtime-registry.ts";
export { OPERATIONS, type Operation, TRANSITIONS } from "./transitions.ts";

export const lifecycle = plugin("lifecycle", (host) => {
  const { kernel } = host;
  const authService = host.use(auth);
  const { identities, users } = authService;
  const agentService = host.use(agents);
  const runtimeService = host.use(runtime);
  const aiService = host.use(ai);
  const importExport = once(async () => (await import("./import-export/import-export.ts")).createImportExport(host));

  const backups = createAgentBackups(host);

  const runtimes = createRuntimeRegistry(createHealthCheck({ agents: agentService, runtime: runtimeService }));
  const operations = createOperations({
    ...kernel,
    agents: agentService,
    channels: host.use(channels),
    runtime: runtimeService,
    users,
    runtimes,
    backups,
    updateJournal: createUpdateJournal(kernel.database),
    repairModel: createModelRepair({ agents: agentService, ai: aiService }),
    runQueued: createKeyedQueue(),
  });

  runtimeService.beforeRecovery(operations.holdUnfinishedUpdates);
  agentService.refuseChangesWhile(operations.isUpdating);
  stopAgentsWithOwner({
    ...kernel,
    authService,
    agents: agentService,
    channels: host.use(channels),
    stop: operations.stop,
  });

  return {
    service: {
      /** The commands of the operator, by name. */
      commands: lateCommands(["agent.import-preview", "agent.import"], async () =>
        (await import("./import-export/import-commands.ts")).createImportCommands({
          role: kernel.config.role,
          administration: authService.administration,
          importExport: await importExport(),
        }),
      ),
      carry: runtimes.register,
      exportAgent: async (...given: Parameters<ImportExport["exportAgent"]>) =>
        (await importExport()).exportAgent(...given),
      writeBackup: (agentId: string) => backups.write(agentId),
      removeBackupsSince: backups.removeSince,
      stop: operations.stop,
      start: operations.start,
      /** The versions of the runtime that this process can run. */
      runtimeVersions: runtimes.versions,
    },
    lateRoutes: {
      web: [
        async () => (await import("./web-routes.ts")).webRoutes({ ...kernel, identities, agents: agentService }),
        async () =>
          (await import("./deployment-routes.ts")).deploymentWebRoutes({ ...kernel, identities, agents: agentService }),
        async () =>
          (await import("./backups/backup-routes.ts")).backupWebRoutes({
            ...kernel,
            identities,
            guards: agentService.guards,
          }),
        async () =>
          (await import("./import-export/import-export-routes.ts")).importExportWebRoutes({
            ...kernel,
            identities,
            agents: agentService,
          }),
      ],
      backend: [
        async () =>
          (await import("./backend-routes.ts")).backendRoutes({ ...kernel, guards: agentService.guards, operations }),
        async () =>
          (await import("./deployment-routes.ts")).deploymentBackendRoutes({ users, agents: agentService, operations }),
        async () =>
          (await import("./backups/backup-routes.ts")).backupBackendRoutes({ guards: agentService.guards, operations }),
        async () =>
          (await import("./import-export/import-export-routes.ts")).importBackendRoutes({
            identities,
            agents: agentService,
            importExport: await importExport(),
          }),
      ],
    },
    start() {
      // Not awaited: an agent that does not come up must not delay the start of the service.
      operations.reconcile().catch((error: unknown) => kernel.log.error("agents could not be reconciled", { error }));
    },
    stop: operations.close,
  };
});
