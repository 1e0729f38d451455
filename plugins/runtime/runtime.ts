// The parts of the runtime put together: inbox, lanes, turns, outbox, and who waits for what.
import type { Kernel, ServiceOf } from "../../src/plugin.ts";
import type { Agent, agents as agentsPlugin } from "../agents/index.ts";
import type { ai as aiPlugin, TurnModel } from "../ai/index.ts";
import type { skills as skillsPlugin } from "../skills/index.ts";
import { createConversations } from "./conversations.ts";
import { createEngine, stopped } from "./engine.ts";
import { type Arrival, conversationOf, createInbox, type InboxEntry } from "./inbox.ts";
import { createLanes, LANE_LIMITS } from "./lanes.ts";
import { createOutbox } from "./outbox.ts";
import { createSessions } from "./sessions.ts";

interface Deps extends Pick<Kernel, "database" | "events" | "log" | "metrics" | "config"> {
  agents: ServiceOf<typeof agentsPlugin>;
  ai: ServiceOf<typeof aiPlugin>;
  skills: ServiceOf<typeof skillsPlugin>;
  /** Milliseconds; for tests that can't wait as long as people can. */
  pace?: { turnRetries: readonly number[]; firstDelivery: number };
}

export function createRuntime(deps: Deps) {
  const { agents, ai, skills, database, events, log, metrics, config, pace } = deps;
  const sessions = createSessions({ database });
  const inbox = createInbox({ database }, sessions);
  const outbox = createOutbox({
    database,
    log,
    report: (agentId, level, message) => agents.log(agentId, level, message, "outbox"),
    ...(pace && { firstDelay: pace.firstDelivery }),
  });
  const conversations = createConversations({ inbox, sessions });

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
    chooseModel,
    inbox,
    sessions,
    outbox,
    ...(pace && { retryDelays: pace.turnRetries }),
  });
  const lanes = createLanes<InboxEntry>({
    async run(entry) {
      const ran = await run(entry);
      conversations.ended(entry);
      if (ran === "pause") await refuse(entry.agentId);
      return ran;
    },
    load: inbox.pending,
    laneOf: conversationOf,
    failed: (error) => log.error("the inbox could not be read", { error }),
  });
  conversations.attach(lanes.push);

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
  metrics.gauge("berth_inbox_held", "Messages held in memory, waiting or running.", lanes.size);

  // Whatever brought the agent up again.
  agents.onChange(lanes.wake);
  agents.onDelete((agentId) => {
    lanes.drop(agentId);
    outbox.drop(agentId);
    conversations.removed(agentId);
  });

  return {
    conversations,
    sessions,
    chooseModel,
    sent: inbox.sent,
    resume: lanes.resume,
    deliverVia: outbox.deliverVia,
    /** A preview became a message on its platform, and can become the reply after a restart too. */
    previewed: (entry: InboxEntry, previewId: string) => database.write([inbox.previewed(entry, previewId)]),

    /** Takes up what was left when the process ended. */
    async start() {
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
