// Takes up at the start what was pending when the process before this one ended, and tells owners which turns were interrupted.
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import type { Row } from "@libsql/client";
import type { Kernel, ServiceOf } from "../../src/kernel/plugin.ts";
import type { agents as agentsPlugin } from "../agents/index.ts";
import type { InboxEntry } from "./inbox/entries.ts";
import type { Inbox } from "./inbox/inbox.ts";
import { LANE_LIMITS, type Lanes } from "./lanes/lanes.ts";
import type { Outbox } from "./outbox/outbox.ts";

interface Deps extends Pick<Kernel, "database" | "cells" | "log"> {
  agents: Pick<ServiceOf<typeof agentsPlugin>, "find" | "log">;
  inbox: Pick<Inbox, "agentsWithPending" | "countInterruptedStatement">;
  outbox: Pick<Outbox, "start" | "resume" | "resumeAll" | "untilRecorded">;
  lanes: Pick<Lanes<InboxEntry>, "resume">;
}

/** Lines of agents' logs that are written between two turns of the event loop: after a crash there may be thousands. */
const LINES_AT_ONCE = 100;

export function createRecovery({ database, cells, log, agents, inbox, outbox, lanes }: Deps) {
  const steps: (() => Promise<void>)[] = [];
  let resumedTurns = 0;

  async function logInterrupted(entries: readonly Row[]): Promise<void> {
    const text = "Berth was restarted before this message was answered. The turn goes on.";
    for (const [n, { agent_id, id }] of entries.entries()) {
      if (n % LINES_AT_ONCE === 0) await yieldToEventLoop();
      agents.log(String(agent_id), "info", text, "runtime", { turn: String(id) });
    }
  }

  /** What a database server stored without an answer is in no lane. */
  async function takeUpUnanswered(): Promise<void> {
    await outbox.resumeAll();
    for (const agentId of await inbox.agentsWithPending()) lanes.resume(agentId);
  }
  cells?.onAccountMoves({
    /** Otherwise the next cell would send it again. */
    beforePacked: ({ agentIds }) => outbox.untilRecorded(agentIds),
    /** What waited in the cell from which they come is in no lane of this one. */
    arrived({ agentIds }) {
      for (const agentId of agentIds) {
        outbox.resume(agentId);
        lanes.resume(agentId);
      }
    },
  });
  database.onLostAnswer(() => {
    takeUpUnanswered().catch((error: unknown) => log.error("stored messages could not be taken up", { error }));
  });

  return {
    /** Runs this work at the start, before pending messages are taken up: it may `holdTurns` of agents. */
    beforeRecovery: (work: () => Promise<void>) => void steps.push(work),

    /** Turns that may have been running when the process before this one ended, and that the start took up. */
    resumedTurns: () => resumedTurns,

    /** Takes up the messages and replies that were pending when the process ended. */
    async start(): Promise<void> {
      for (const work of steps) await work();
      await outbox.start();
      const waiting = await inbox.agentsWithPending();
      const found = await Promise.all(waiting.map(agents.find));
      // Nothing of a stopped agent was running, so nothing of it was interrupted.
      const up = found.flatMap((agent) => (agent && agent.status !== "stopped" ? [agent.id] : []));
      const [interrupted] = await database.write([inbox.countInterruptedStatement(up, LANE_LIMITS.perAgent)]);
      const entries = interrupted?.rows ?? [];
      resumedTurns = entries.length;
      for (const agentId of waiting) lanes.resume(agentId);
      logInterrupted(entries).catch((error: unknown) =>
        log.error("owners were not told about interrupted turns", { error }),
      );
    },
  };
}
