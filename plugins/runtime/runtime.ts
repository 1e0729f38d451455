// Composes what answers messages: inbox, lanes, turns and outbox.

import type { Kernel, ServiceOf } from "../../src/kernel/plugin.ts";
import type { agentStats } from "../agent-stats/index.ts";
import type { Agent, agents } from "../agents/index.ts";
import type { ai, TurnModel } from "../ai/index.ts";
import type { approvals } from "../approvals/index.ts";
import type { auth } from "../auth/index.ts";
import type { skills } from "../skills/index.ts";
import type { uploads } from "../uploads/index.ts";
import { createBackupRows } from "./backup/backup-rows.ts";
import { createShownSteps } from "./conversations/shown-steps.ts";
import { createDelegateSkill } from "./delegation/delegate-skill.ts";
import { parseCommand } from "./inbox/commands.ts";
import { conversationKey, type InboxEntry } from "./inbox/entries.ts";
import { createInbox } from "./inbox/inbox.ts";
import { createCodeDecisions } from "./journal/code-decisions.ts";
import { createEndedCallCounter } from "./journal/ended-calls.ts";
import { createJournal } from "./journal/journal.ts";
import { createSuspendedTurns } from "./journal/suspended-turns.ts";
import { createSuspensions } from "./journal/suspensions.ts";
import { createEntryRuns } from "./lanes/entry-runs.ts";
import { createLanes } from "./lanes/lanes.ts";
import { createDetachedTurns } from "./live/detached-turns.ts";
import { createLiveTurns } from "./live/live-turns.ts";
import { joinOtherPlugins } from "./other-plugins.ts";
import { createChannelConversations } from "./outbox/channel-conversations.ts";
import { createDeliveryFailureRecorder } from "./outbox/delivery-failures.ts";
import type { NewAccountLimits } from "./outbox/new-account-limits.ts";
import { createOutbox } from "./outbox/outbox.ts";
import { createOwnerAlerts } from "./outbox/owner-alerts.ts";
import { createSlowReplies } from "./outbox/slow-replies.ts";
import { createPlatforms } from "./platforms.ts";
import { createReaderLanguage } from "./reader-language.ts";
import { createRecovery } from "./recovery.ts";
import { createRuntimeMetrics } from "./runtime-metrics.ts";
import { createScheduledPrompts } from "./scheduled-prompts.ts";
import { createFactExtraction } from "./sessions/fact-extraction.ts";
import { createLastActivities } from "./sessions/last-activities.ts";
import { createSessions } from "./sessions/sessions.ts";
import { createQuiesce } from "./turn/quiesce.ts";
import { createRunningTurns } from "./turn/running-turns.ts";
import { createTurnRequests } from "./turn/turn-requests.ts";
import { createTurnRunner } from "./turn/turn-runner.ts";

interface Deps
  extends Pick<
    Kernel,
    "database" | "cells" | "events" | "jobs" | "log" | "metrics" | "retention" | "traces" | "config" | "vault" | "audit"
  > {
  agents: ServiceOf<typeof agents>;
  ai: ServiceOf<typeof ai>;
  skills: ServiceOf<typeof skills>;
  approvals: ServiceOf<typeof approvals>;
  uploads: ServiceOf<typeof uploads>;
  agentStats: ServiceOf<typeof agentStats>;
  users: Pick<ServiceOf<typeof auth>["users"], "byId">;
  /** Without it, new accounts have no limits of their own. */
  newAccountLimits?: NewAccountLimits | undefined;
  /** Milliseconds; for tests. */
  timings?: { turnRetries: readonly number[]; firstDelivery: number; quiesceTimeout?: number; slowReply?: number };
}

export function createRuntime(deps: Deps) {
  const {
    agents,
    ai,
    skills,
    approvals,
    uploads,
    agentStats,
    database,
    cells,
    events,
    jobs,
    log,
    metrics,
    traces,
    config,
    vault,
    audit,
    timings,
  } = deps;
  const platforms = createPlatforms();
  const sessions = createSessions({ database });
  const inbox = createInbox({
    database,
    sessions,
    uploads,
    recordTurn(agentId, { outcome, ms, at }) {
      runtimeMetrics.turnEnded(outcome, ms);
      if (outcome !== "cancelled") agentStats.recordTurn(agentId, { ok: outcome === "done", ms, at });
    },
  });
  const outbox = createOutbox({
    database,
    log,
    traces,
    platforms,
    logToOwner: (agentId, level, message) => agents.log(agentId, level, message, "outbox"),
    onGivenUp: (...given) => scheduledPrompts.undeliveredStatements(...given),
    ...(timings && { firstDelay: timings.firstDelivery }),
  });
  const readerLanguage = createReaderLanguage({ agents, users: deps.users });
  const ownerAlerts = createOwnerAlerts({ database, outbox, platforms, readerLanguage });
  const slowReplies = createSlowReplies({
    database,
    outbox,
    platforms,
    log,
    readerLanguage,
    ...(timings?.slowReply !== undefined && { slowAfter: timings.slowReply }),
  });
  const runningTurns = createRunningTurns();
  const steps = createShownSteps(log);
  const liveTurns = createLiveTurns(steps);
  const journal = createJournal({ database, vault, audit, shown: steps, agents });
  const scheduledPrompts = createScheduledPrompts({ inbox, sessions, ownerAlerts, push: (entry) => lanes.push(entry) });
  const runTurn = createTurnRunner({
    config,
    database,
    events,
    log,
    agents,
    ai,
    skills,
    approvals,
    uploads,
    chooseModel,
    platforms,
    runningTurns,
    liveTurns,
    inbox,
    sessions,
    outbox,
    ownerAlerts,
    slowReplies,
    scheduledPrompts,
    factExtraction: createFactExtraction({ jobs, agents, ai, skills, sessions, chooseModel }),
    steps,
    suspensions: {
      suspend: (...given) => suspensions.suspend(...given),
      cancelConversation: (entry) => suspensions.cancelConversation(entry),
    },
    decideByCode: createCodeDecisions({ approvals }),
    readerLanguage,
    journal,
    newAccountLimits: deps.newAccountLimits,
    onFirstText: (ms) => runtimeMetrics.firstText(ms),
    traces,
    ...(timings && { retryDelays: timings.turnRetries }),
  });
  const lanes = createLanes<InboxEntry>({
    load: inbox.listPending,
    run: (entry) => run(entry),
    laneOf: conversationKey,
    onError: (error) => log.error("the inbox could not be read", { error }),
  });
  const runtimeMetrics = createRuntimeMetrics({
    database,
    metrics,
    heldMessages: lanes.size,
    heldReplies: outbox.size,
  });
  const suspensions = createSuspensions({
    database,
    approvals,
    inbox,
    sessions,
    outbox,
    ownerAlerts,
    scheduledPrompts,
    liveTurns,
    lanes,
    readerLanguage,
    onError: (error) => log.error("a turn could not be resumed", { error }),
  });
  const { accept, enqueue, run, endTurnsIfFrozen } = createEntryRuns({
    database,
    agents,
    agentStats,
    inbox,
    lanes,
    runTurn,
    runningTurns,
    liveTurns,
    suspensions,
  });
  const turnRequests = createTurnRequests({ inbox, sessions, runningTurns, enqueue });
  const detachedTurns = createDetachedTurns({
    database,
    inbox,
    sessions,
    runningTurns,
    lanes,
    liveTurns,
    uploads,
    enqueue,
  });
  const whileQuiesced = createQuiesce({ lanes, runningTurns, sessions, timeoutMs: timings?.quiesceTimeout });
  const holdTurns = (agentId: string) => lanes.quiesce(agentId).release;
  const recovery = createRecovery({ database, cells, log, agents, inbox, outbox, lanes });

  /** The model that answers for an agent now. */
  async function chooseModel({ id, model: choice }: Agent): Promise<TurnModel> {
    const [settings, keys] = await Promise.all([agents.settings(id), agents.credentials.providerKeys(id)]);
    return ai.resolveTurnModel({ choice, configModel: settings.model, keys });
  }

  const delegation = [createDelegateSkill({ agents, ai, skills, chooseModel })];
  skills.register({ id: "built-in", skillsFor: () => delegation });
  joinOtherPlugins({
    ...deps,
    inbox,
    sessions,
    lanes,
    outbox,
    runningTurns,
    liveTurns,
    suspensions,
    holdTurns,
    endTurnsIfFrozen,
  });

  return {
    service: {
      /** Sends a message for a caller that waits; resolves with the reply. */
      chat: turnRequests.chat,
      /** Stores a message of the owner's in a conversation of the web; its turn runs by itself. */
      sendMessage: detachedTurns.send,
      /** Accepts messages of a platform; they are stored when it resolves. */
      accept,
      /** Registers the functions by which the runtime delivers to a platform and fetches from it. */
      registerPlatform: platforms.register,
      acceptScheduled: scheduledPrompts.acceptScheduled,
      onScheduledSettled: scheduledPrompts.onScheduledSettled,
      isCommand: (text: string) => parseCommand(text) !== undefined,
      sessions: {
        list: sessions.list,
        lastActivity: sessions.lastActivity,
        lastActivities: createLastActivities({ database }),
        find: sessions.find,
        findActive: sessions.findActive,
        messages: sessions.messages,
      },
      /** Whether the agent has a bot on this platform. */
      isConnected: async (agentId: string, platform: string) => platforms.of(platform)?.isConnected?.(agentId) ?? false,
      /** Where the agent talks to people on channels. */
      channelConversations: createChannelConversations({ database, platforms }),
      /** How many calls of these tools a turn has ended, also before a restart. */
      countEndedCalls: createEndedCallCounter(database),
      /** Which of these entries still wait for their reply. */
      pendingEntries: inbox.pendingOf,
      waitingConversations: inbox.waitingConversations,
      listSentMessages: inbox.listSentMessages,
      /** Whether the outcomes of these deliveries are recorded; waits up to 3 s for tries in flight. */
      areDeliveriesRecorded: outbox.areDeliveriesRecorded,
      /** Records replies that were sent but did not arrive, each one once. */
      recordDeliveryFailures: createDeliveryFailureRecorder({ database }),
      chooseModel,
      readerLanguage,
      /** Takes up the pending messages of an agent that was started again. */
      resume: lanes.resume,
      whileQuiesced,
      /** Starts no turn of this agent until the returned function is called. */
      holdTurns,
      beforeRecovery: recovery.beforeRecovery,
      resumedTurns: recovery.resumedTurns,
      backupRows: createBackupRows({ database, jobs, sessions, deliver: outbox.resume }),
    },
    sessions,
    steps,
    liveTurns,
    detachedTurns,
    recallSuspended: createSuspendedTurns({ approvals, inbox, journal, liveTurns }),

    start: recovery.start,

    /** Gives running turns the configured grace; unanswered messages stay in the inbox. */
    async stop() {
      const drained = lanes.drain();
      runningTurns.stopWithin(config.shutdownGraceMs);
      await drained;
      slowReplies.stop();
      await outbox.stop(config.sendGraceMs);
    },

    /** Entries, callers and turns held in memory: 0 when the runtime is idle. */
    heldCount: () => lanes.size() + outbox.size() + runningTurns.size() + turnRequests.size(),
  };
}
