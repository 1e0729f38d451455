// The parts of the runtime put together: inbox, lanes, turns, outbox, and who waits for what.
import { heldBytes } from "../../src/held-bytes.ts";
import type { Kernel, ServiceOf } from "../../src/plugin.ts";
import type { Agent, agents as agentsPlugin } from "../agents/index.ts";
import type { ai as aiPlugin, TurnModel } from "../ai/index.ts";
import type { figures as figuresPlugin } from "../figures/index.ts";
import type { skills as skillsPlugin } from "../skills/index.ts";
import type { FetchFile } from "./attachments.ts";
import type { Obey } from "./commands.ts";
import { createConversations } from "./conversations.ts";
import { stopped } from "./endings.ts";
import { createEngine } from "./engine.ts";
import { createEstate } from "./estate.ts";
import { createExpiry } from "./expiry.ts";
import { type Arrival, conversationOf, createInbox, type InboxEntry } from "./inbox.ts";
import { createLanes, LANE_LIMITS } from "./lanes.ts";
import { createLost } from "./lost.ts";
import { createOutbox } from "./outbox.ts";
import { createRemoval } from "./removal.ts";
import { createSessions } from "./sessions.ts";
import { createTally } from "./tally.ts";

interface Deps extends Pick<Kernel, "database" | "events" | "jobs" | "log" | "metrics" | "config"> {
  agents: ServiceOf<typeof agentsPlugin>;
  ai: ServiceOf<typeof aiPlugin>;
  skills: ServiceOf<typeof skillsPlugin>;
  figures: ServiceOf<typeof figuresPlugin>;
  /** Milliseconds; for tests that can't wait as long as people can. */
  pace?: { turnRetries: readonly number[]; firstDelivery: number; patience?: number };
}

/** How long turns may go on when an agent is to be changed, in ms. */
const PATIENCE = 10_000;
const DAY = 86_400_000;

export function createRuntime(deps: Deps) {
  const { agents, ai, skills, figures, database, events, jobs, log, metrics, config, pace } = deps;
  const sessions = createSessions({ database });
  const inbox = createInbox({ database }, sessions);
  const outbox = createOutbox({
    database,
    log,
    report: (agentId, level, message) => agents.log(agentId, level, message, "outbox"),
    ...(pace && { firstDelay: pace.firstDelivery }),
  });
  const conversations = createConversations({ inbox, sessions });
  const fetchers = new Map<string, FetchFile>();
  let obey: Obey | undefined;

  /** The model that answers for an agent now. */
  async function chooseModel({ id, model: choice }: Agent): Promise<TurnModel> {
    const [settings, keys] = await Promise.all([agents.settings(id), agents.credentials.providerKeys(id)]);
    return ai.resolveTurnModel({ choice, configModel: settings.model, keys });
  }

  const run = createEngine({
    ...conversations.forEngine,
    database,
    events,
    log,
    agents,
    ai,
    skills,
    figures,
    chooseModel,
    obey: () => obey,
    fetcherOf: (platform) => fetchers.get(platform),
    inbox,
    sessions,
    outbox,
    ...(pace && { retryDelays: pace.turnRetries }),
  });
  const lanes = createLanes<InboxEntry>({
    async run(entry) {
      figures.begin(entry.agentId);
      try {
        const ran = await run(entry);
        conversations.ended(entry);
        if (ran === "pause") await refuse(entry.agentId);
        return ran;
      } finally {
        figures.end(entry.agentId);
      }
    },
    load: inbox.pending,
    laneOf: conversationOf,
    failed: (error) => log.error("the inbox could not be read", { error }),
  });
  conversations.attach(lanes.push);
  figures.countsTurns(createTally({ database }));
  figures.holds((agentId) => sessions.held(agentId) + heldBytes(lanes.held(agentId)));

  /** Who waits for a stopped agent is told so, and is not answered later. */
  async function refuse(agentId: string): Promise<void> {
    const refused = conversations.giveUp(agentId, stopped());
    await database.write(refused.map((id) => inbox.settled({ agentId, id }, "failed", "AGENT_STOPPED")));
  }

  skills.onReminder(({ agentId, sessionId, platform, peer, byOwner, text, id }) =>
    inbox.accepting(
      {
        agentId,
        platform: platform as Arrival["platform"],
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
  const expire = createExpiry({ database, sessions });
  jobs.every("runtime.expire-sessions", DAY, ({ signal }) => expire(signal));
  metrics.gauge("berth_inbox_held", "Messages held in memory, waiting or running.", lanes.size);

  // Whatever brought the agent up again.
  agents.onChange((agentId) => {
    lanes.wake(agentId);
    outbox.wake(agentId);
  });
  const hold = (agentId: string) => lanes.quiet(agentId).release;
  agents.beforeDelete(createRemoval({ database, agents, hold }));
  agents.onDelete((agentId) => {
    lanes.drop(agentId);
    outbox.drop(agentId);
    conversations.removed(agentId);
  });

  /**
   * Does what changes an agent's sessions under it, while none of its turns run. Turns that don't end soon are broken off
   * and begin anew after it; messages that arrive meanwhile wait.
   */
  async function quietly<Result>(agentId: string, work: () => Promise<Result>): Promise<Result> {
    const { idle, release } = lanes.quiet(agentId);
    const late = setTimeout(() => conversations.interrupt(agentId), pace?.patience ?? PATIENCE);
    try {
      await idle;
      try {
        return await work();
      } finally {
        sessions.forget(agentId);
        // What is held names sessions that may be gone: it is read again.
        lanes.drop(agentId);
      }
    } finally {
      clearTimeout(late);
      release();
      lanes.resume(agentId);
    }
  }

  const beforeResuming: (() => Promise<void>)[] = [];

  return {
    conversations,
    sessions,
    quietly,
    /** Starts no turn of this agent until what it answers is called. */
    hold,
    /** Done at the start, before what was left is taken up: to `hold` agents whose sessions are about to be changed. */
    beforeResuming: (work: () => Promise<void>) => void beforeResuming.push(work),
    estate: createEstate({ database, jobs, sessions, deliver: outbox.resume }),
    chooseModel,
    sent: inbox.sent,
    resume: lanes.resume,
    deliverVia: outbox.deliverVia,
    settled: outbox.settled,
    lost: createLost({ database }),
    /** Who does what owners command: one for all platforms. */
    obeyVia(by: Obey) {
      obey = by;
    },
    /** Who fetches the files of a platform's messages. */
    fetchFileVia: (platform: string, fetch: FetchFile) => void fetchers.set(platform, fetch),
    /** A preview became a message on its platform, and can become the reply after a restart too. */
    previewed: (entry: InboxEntry, previewId: string) => database.write([inbox.previewed(entry, previewId)]),

    /** Takes up what was left when the process ended. */
    async start() {
      for (const work of beforeResuming) await work();
      await outbox.start();
      const waiting = await inbox.waitingAgents();
      const found = await Promise.all(waiting.map(agents.find));
      // What waits for a stopped agent was in nobody's work.
      const up = found.flatMap((agent) => (agent && agent.status !== "stopped" ? [agent.id] : []));
      await database.write([inbox.countInterrupted(up, LANE_LIMITS.perAgent)]);
      for (const agentId of waiting) lanes.resume(agentId);
    },

    /** Turns in flight get the configured grace; what is not answered by then stays in the inbox. */
    async stop() {
      const drained = lanes.drain();
      conversations.stopSoon(config.shutdownGraceMs);
      await drained;
      await outbox.stop();
    },

    /** Entries, waiters and turns held in memory: none when nothing is going on. */
    held: () => lanes.size() + outbox.size() + conversations.size(),
  };
}
