// The plugin that hosts the bots of agents: it keeps them connected, decides who may talk, and delivers replies. The
// adapters of the platforms are in the folder channels/ beside plugins/.

import { channelDefinitions, channelIds } from "../../channels/registry.ts";
import { plugin } from "../../src/kernel/plugin.ts";
import { once } from "../../src/kernel/util/cache.ts";
import { createKeyedQueue } from "../../src/kernel/util/keyed-queue.ts";
import { agentStats } from "../agent-stats/index.ts";
import { agents, isFrozen } from "../agents/index.ts";
import { auth } from "../auth/index.ts";
import { planSettings } from "../auth/settings.ts";
import { runtime } from "../runtime/index.ts";
import { uploads } from "../uploads/index.ts";
import { createAccessSettings } from "./access/access-settings.ts";
import { findAccessWarnings } from "./access/access-warnings.ts";
import { createMessageIntake } from "./access/message-intake.ts";
import { createOwnerCodes } from "./access/owner-codes.ts";
import { createOwnerCommands } from "./access/owner-commands.ts";
import { createPairingApproval } from "./access/pairing-approval.ts";
import { createPairings } from "./access/pairings.ts";
import { createAdapters } from "./adapters.ts";
import { createBackupRows } from "./backup-rows.ts";
import { createChannelQuota } from "./channel-quota.ts";
import { createChannelService } from "./channel-service.ts";
import { createChannelStates } from "./channel-states.ts";
import { createConnectionLoop } from "./connections/connection-loop.ts";
import { type ConnectionState, createConnectionStates } from "./connections/connection-states.ts";
import { createConnectionStore } from "./connections/connection-store.ts";
import { createFleetConnections } from "./connections/fleet-connections.ts";
import { createOpenConnections } from "./connections/open-connections.ts";
import { createOwnerNotices } from "./connections/owner-notices.ts";
import { createResumePoints } from "./connections/resume-points.ts";
import { createSupervisor } from "./connections/supervisor.ts";
import { createTokenAttempts } from "./connections/token-attempts.ts";
import { createOutgoingFiles } from "./delivery/outgoing-files.ts";
import { createPlatformHooks } from "./delivery/reply-delivery.ts";
import { createReplyPreviews } from "./delivery/reply-previews.ts";
import { createIncomingWebhooks } from "./webhooks/incoming-webhooks.ts";
import { webhookRoutes } from "./webhooks/webhook-routes.ts";
import { createWebhookUrls } from "./webhooks/webhook-urls.ts";

export type { ChannelId } from "../../channels/port.ts";
export { parseOwnerId } from "./access/owner-id.ts";
export type { ConnectRequest } from "./channel-service.ts";
export type { ChannelState } from "./channel-states.ts";
export { CONNECT_ERRORS } from "./connections/connect-errors.ts";
export type { FleetConnection, FleetFilter, FleetState } from "./connections/fleet-connections.ts";
export type { SubmittedToken, VerifiedToken } from "./token-checks.ts";

export const channels = plugin("channels", (host) => {
  const { kernel } = host;
  const { log, metrics } = kernel;
  const { identities, users, administration } = host.use(auth);
  const agentService = host.use(agents);
  const { guards } = agentService;
  const runtimeService = host.use(runtime);

  agentService.registerConfigCheck((_, settings) => findAccessWarnings(settings));
  const agentStatsService = host.use(agentStats);
  const adapters = createAdapters({ ...kernel, traffic: agentStatsService.recordTraffic });
  const connections = createConnectionStore(kernel);
  const pairings = createPairings(kernel);
  const inAgentQueue = createKeyedQueue();
  const openConnections = createOpenConnections({ log, agents: agentService, adapters, connections });
  const resumePoints = createResumePoints({ log, connections });
  const ownerNotices = createOwnerNotices({ ...kernel, agents: agentService, runtime: runtimeService });
  const { recordUndelivered, reportLostReplies, reportPairing } = ownerNotices;
  const ownerCodes = createOwnerCodes();
  const intake = createMessageIntake({
    ...kernel,
    agents: agentService,
    runtime: runtimeService,
    pairings,
    resumePoints,
    reportLostReplies,
    reportPairing,
    ownerCodes,
    pauseNotices: { tell: async (...given) => (await loadPauseNotices()).tell(...given) },
    claimBot: (openConnection, message) => pairingApproval.claim(openConnection, message),
  });
  const { createSink } = intake;
  /** Loaded with the first message to a frozen agent. */
  const loadPauseNotices = once(async () =>
    (await import("./access/pause-notices.ts")).createPauseNotices({
      ...kernel,
      runtime: runtimeService,
      openConnections,
      send: intake.sendNotice,
    }),
  );
  agentService.onFreezeChanged(async (agent) => {
    if (isFrozen(agent)) await (await loadPauseNotices()).tellWaiting(agent.id);
  });
  const webhookUrls = createWebhookUrls(kernel.config, adapters);
  const connectionStates = createConnectionStates(ownerNotices.reportState);
  const shared = { log, adapters, webhookUrls, connections, openConnections, connectionStates };
  const connectionLoop = createConnectionLoop({ ...shared, createSink });
  const supervisor = createSupervisor({ ...shared, agents: agentService, connectionLoop, inAgentQueue });
  const service = createChannelService({
    ...kernel,
    agents: agentService,
    adapters,
    connections,
    quota: createChannelQuota({
      users,
      isAdmin: administration.isAdmin,
      plans: kernel.config.of(planSettings).table,
    }),
    states: createChannelStates({ agents: agentService, adapters, connections, supervisor }),
    openConnections,
    pairings,
    supervisor,
    inAgentQueue,
  });
  const accessDeps = { openConnections, supervisor, inAgentQueue };
  const accessSettings = createAccessSettings({ ...accessDeps, agents: agentService, connections });
  const pairingApproval = createPairingApproval({
    ...accessDeps,
    pairings,
    intake,
    reportPairing,
    readerLanguage: runtimeService.readerLanguage,
  });
  const tokenAttempts = createTokenAttempts(kernel.limits);
  const incomingWebhooks = createIncomingWebhooks({
    ...kernel,
    agents: agentService,
    openConnections,
    intake,
    traffic: agentStatsService.recordTraffic,
  });
  agentStatsService.addMemoryGauge(openConnections.memoryBytes);
  agentStatsService.addConnectionGauge(supervisor.countConnected);
  const platformDeps = {
    log,
    agents: agentService,
    openConnections,
    supervisor,
    recordUndelivered,
    previews: createReplyPreviews({ log, adapters, openConnections }),
    outgoingFiles: createOutgoingFiles({ uploads: host.use(uploads), readerLanguage: runtimeService.readerLanguage }),
    ownerCommand: createOwnerCommands({
      openConnections,
      pairings,
      intake,
      reportPairing,
      readerLanguage: runtimeService.readerLanguage,
    }),
  };
  for (const channel of channelIds()) {
    runtimeService.registerPlatform(channel, createPlatformHooks(channel, platformDeps));
  }
  metrics.gauge(
    "berth_channel_connections",
    "Connections held by this process, by state; registered webhooks are not held.",
    ["state"],
    () =>
      Object.entries(supervisor.countByState()).map(
        ([state, count]) => [{ state: state as ConnectionState }, count] as const,
      ),
  );

  /** Connections are kept only where the backend runs. */
  let started = false;
  let starting: Promise<void> = Promise.resolve();
  const logFailure = (agentId: string) => (error: unknown) =>
    log.error("reconciling an agent's channels failed", { agentId, error });
  agentService.onChange((agentId) => {
    if (started) inAgentQueue(agentId, () => supervisor.reconcile(agentId)).catch(logFailure(agentId));
  });
  // A bot may have been connected or removed without an answer of the database.
  kernel.database.onLostAnswer(() => {
    if (started) starting = starting.then(supervisor.reconcileAll).catch(logFailure("all"));
  });
  agentService.beforeDelete(service.beforeAgentRemoval);
  agentService.onDelete((agentId) => service.afterAgentRemoval(agentId, channelIds()));

  const backupRows = createBackupRows({ ...kernel, agents: agentService, connections, openConnections, pairings });

  return {
    service: {
      ...service,
      backupRows,
      /** After pairings of an agent were deleted elsewhere. */
      forgetApprovals: pairings.clearCache,
      /** The bots of all agents, for admins. */
      fleet: createFleetConnections({ ...kernel, adapters, connectionStates, supervisor }),
    },
    // A platform posts for all its bots from a few addresses; the routes limit the posts of each bot.
    selfLimitedPaths: [
      { method: "POST", prefix: "/hooks/" },
      { method: "POST", prefix: "/api/hooks/" },
    ],
    // The last segment of a webhook URL can be the only proof of who posts.
    secretPaths: [/^((?:\/api)?\/hooks\/[^/]*)\/.*/],
    secretPatterns: channelDefinitions().map(({ tokenLogPattern }) => tokenLogPattern),
    ...webhookRoutes({ identities, incomingWebhooks }),
    lateRoutes: {
      web: [
        async () => (await import("./web-routes.ts")).webRoutes({ ...kernel, identities, guards, adapters }),
        async () => (await import("./access/access-web-routes.ts")).accessWebRoutes({ ...kernel, identities, guards }),
      ],
      backend: [
        async () => (await import("./backend-routes.ts")).backendRoutes({ guards, channels: service, tokenAttempts }),
        async () =>
          (await import("./access/access-backend-routes.ts")).accessBackendRoutes({
            guards,
            channels: service,
            pairings,
            pairingApproval,
            accessSettings,
            ownerCodes,
          }),
      ],
    },
    start() {
      started = true;
      // Not awaited, because a platform that is down must not delay the start.
      starting = supervisor.startAll().catch(logFailure("all"));
    },
    async stop() {
      started = false;
      await Promise.all([supervisor.stop(), intake.stop()]);
      await starting;
      await resumePoints.stop();
    },
  };
});
