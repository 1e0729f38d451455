// The parts of the runtime put together: inbox, lanes, turns, outbox, and who waits for what.

import type { Kernel, ServiceOf } from "../../src/kernel/plugin.ts";
import { estimateMemorySize } from "../../src/kernel/util/memory-size.ts";
import type { agentStats as figuresPlugin } from "../agent-stats/index.ts";
import type { Agent, agents as agentsPlugin } from "../agents/index.ts";
import type { ai as aiPlugin, TurnModel } from "../ai/index.ts";
import type { skills as skillsPlugin } from "../skills/index.ts";
import { createAgentRemoval } from "./backup/agent-removal.ts";
import { createBackupRows } from "./backup/backup-rows.ts";
import { conversationKey, createInbox, type InboundMessage, type InboxEntry } from "./inbox/inbox.ts";
import { createTurnCounter } from "./inbox/turn-counter.ts";
import { createTurnRequests } from "./inbox/turn-requests.ts";
import { createLanes, LANE_LIMITS } from "./lanes/lanes.ts";
import { createDeliveryFailureRecorder } from "./outbox/delivery-failures.ts";
import { createOutbox } from "./outbox/outbox.ts";
import { createSessionExpiry } from "./sessions/session-expiry.ts";
import { createSessions } from "./sessions/sessions.ts";
import { agentStoppedError } from "./turn/abort-reasons.ts";
import type { FetchFile } from "./turn/attachments.ts";
import type { OwnerCommandHandler } from "./turn/commands.ts";
import { createTurnRunner } from "./turn/turn-runner.ts";

interface Deps extends Pick<Kernel, "database" | "events" | "jobs" | "log" | "metrics" | "config"> {
  agents: ServiceOf<typeof agentsPlugin>;
  ai: ServiceOf<typeof aiPlugin>;
  skills: ServiceOf<typeof skillsPlugin>;
  agentStats: ServiceOf<typeof figuresPlugin>;
  /** Milliseconds; for tests that can't wait as long as people can. */
  timings?: { turnRetries: readonly number[]; firstDelivery: number; patience?: number };
}

/** How long turns may go on when an agent is to be changed, in ms. */
const QUIESCE_TIMEOUT = 10_000;
const DAY = 86_400_000;

export function createRuntime(deps: Deps) {
  const { agents, ai, skills, agentStats, database, events, jobs, log, metrics, config, timings } = deps;
  const sessions = createSessions({ database });
  const inbox = createInbox({ database }, sessions);
  const outbox = createOutbox({
    database,
    log,
    logToOwner: (agentId, level, message) => agents.log(agentId, level, message, "outbox"),
    ...(timings && { firstDelay: timings.firstDelivery }),
  });
  const turnRequests = createTurnRequests({ inbox, sessions });
  const fetchers = new Map<string, FetchFile>();
  let obey: OwnerCommandHandler | undefined;

  /** The model that answers for an agent now. */
  async function chooseModel({ id, model: choice }: Agent): Promise<TurnModel> {
    const [settings, keys] = await Promise.all([agents.settings(id), agents.credentials.providerKeys(id)]);
    return ai.resolveTurnModel({ choice, configModel: settings.model, keys });
  }

  const run = createTurnRunner({
    ...turnRequests.forEngine,
    database,
    events,
    log,
    agents,
    ai,
    skills,
    agentStats,
    chooseModel,
    obey: () => obey,
    fetcherOf: (platform) => fetchers.get(platform),
    inbox,
    sessions,
    outbox,
    ...(timings && { retryDelays: timings.turnRetries }),
  });
  const lanes = createLanes<InboxEntry>({
    async run(entry) {
      agentStats.turnStarted(entry.agentId);
      try {
        const result = await run(entry);
        turnRequests.release(entry);
        if (result === "pause") await refuseWaiting(entry.agentId);
        return result;
      } finally {
        agentStats.turnEnded(entry.agentId);
      }
    },
    load: inbox.listPending,
    laneOf: conversationKey,
    onError: (error) => log.error("the inbox could not be read", { error }),
  });
  turnRequests.attach(lanes.push);
  agentStats.setTurnHistoryLoader(createTurnCounter({ database }));
  agentStats.addMemoryGauge((agentId) => sessions.memoryBytes(agentId) + estimateMemorySize(lanes.entriesOf(agentId)));

  /** Who waits for a stopped agent is told so, and is not answered later. */
  async function refuseWaiting(agentId: string): Promise<void> {
    const refused = turnRequests.rejectWaiting(agentId, agentStoppedError());
    await database.write(refused.map((id) => inbox.settleStatement({ agentId, id }, "failed", "AGENT_STOPPED")));
  }

  skills.onReminder(({ agentId, sessionId, platform, peer, byOwner, text, id }) =>
    inbox.acceptStatements(
      {
        agentId,
        platform: platform as InboundMessage["platform"],
        platformMessageId: `reminder:${id}`,
        to: peer === "" ? { sessionId } : { peer },
        sender: { id: "reminder", name: "reminder" },
        byOwner,
        kind: "reminder",
        content: text,
      },
      lanes.push,
    ),
  );
  const expire = createSessionExpiry({ database, sessions });
  jobs.every("runtime.expire-sessions", DAY, ({ signal }) => expire(signal));
  metrics.gauge("berth_inbox_held", "Messages held in memory, waiting or running.", lanes.size);

  // Whatever brought the agent up again.
  agents.onChange((agentId) => {
    lanes.wake(agentId);
    outbox.wake(agentId);
  });
  const holdTurns = (agentId: string) => lanes.quiesce(agentId).release;
  agents.beforeDelete(createAgentRemoval({ database, agents, holdTurns }));
  agents.onDelete((agentId) => {
    lanes.drop(agentId);
    outbox.drop(agentId);
    turnRequests.onAgentDeleted(agentId);
  });

  /**
   * Does what changes an agent's sessions under it, while none of its turns run. Turns that don't end soon are broken off
   * and begin anew after it; messages that arrive meanwhile wait.
   */
  async function whileQuiesced<Result>(agentId: string, work: () => Promise<Result>): Promise<Result> {
    const { idle, release } = lanes.quiesce(agentId);
    const late = setTimeout(() => turnRequests.interruptAgent(agentId), timings?.patience ?? QUIESCE_TIMEOUT);
    try {
      await idle;
      try {
        return await work();
      } finally {
        sessions.invalidateAgent(agentId);
        // What is held names sessions that may be gone: it is read again.
        lanes.drop(agentId);
      }
    } finally {
      clearTimeout(late);
      release();
      lanes.resume(agentId);
    }
  }

  const beforeRecovery: (() => Promise<void>)[] = [];

  return {
    turnRequests,
    sessions,
    whileQuiesced,
    /** Starts no turn of this agent until what it answers is called. */
    holdTurns,
    /** Done at the start, before what was left is taken up: to `hold` agents whose sessions are about to be changed. */
    beforeRecovery: (work: () => Promise<void>) => void beforeRecovery.push(work),
    backupRows: createBackupRows({ database, jobs, sessions, deliver: outbox.resume }),
    chooseModel,
    listSentMessages: inbox.listSentMessages,
    resume: lanes.resume,
    deliverVia: outbox.deliverVia,
    areDeliveriesRecorded: outbox.areDeliveriesRecorded,
    recordDeliveryFailures: createDeliveryFailureRecorder({ database }),
    /** Who does what owners command: one for all platforms. */
    obeyVia(by: OwnerCommandHandler) {
      obey = by;
    },
    /** Who fetches the files of a platform's messages. */
    fetchFileVia: (platform: string, fetch: FetchFile) => void fetchers.set(platform, fetch),
    /** A preview became a message on its platform, and can become the reply after a restart too. */
    savePreview: (entry: InboxEntry, previewId: string) =>
      database.write([inbox.savePreviewStatement(entry, previewId)]),

    /** Takes up what was left when the process ended. */
    async start() {
      for (const work of beforeRecovery) await work();
      await outbox.start();
      const waiting = await inbox.agentsWithPending();
      const found = await Promise.all(waiting.map(agents.find));
      // What waits for a stopped agent was in nobody's work.
      const up = found.flatMap((agent) => (agent && agent.status !== "stopped" ? [agent.id] : []));
      await database.write([inbox.countInterruptedStatement(up, LANE_LIMITS.perAgent)]);
      for (const agentId of waiting) lanes.resume(agentId);
    },

    /** Turns in flight get the configured grace; what is not answered by then stays in the inbox. */
    async stop() {
      const drained = lanes.drain();
      turnRequests.stopWithin(config.shutdownGraceMs);
      await drained;
      await outbox.stop();
    },

    /** Entries, waiters and turns held in memory: none when nothing is going on. */
    heldCount: () => lanes.size() + outbox.size() + turnRequests.size(),
  };
}
