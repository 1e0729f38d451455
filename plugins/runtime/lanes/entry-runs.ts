// Brings messages from the inbox to their lanes, and runs an entry that has come to the head of its lane.
import type { Kernel, ServiceOf } from "../../../src/kernel/plugin.ts";
import type { agentStats as agentStatsPlugin } from "../../agent-stats/index.ts";
import { agentFrozenError, type agents as agentsPlugin, isFrozen } from "../../agents/index.ts";
import { agentStoppedError } from "../errors.ts";
import { parseCommand } from "../inbox/commands.ts";
import type { InboundMessage, InboxEntry } from "../inbox/entries.ts";
import type { Inbox } from "../inbox/inbox.ts";
import type { Suspensions } from "../journal/suspensions.ts";
import type { LiveTurns } from "../live/live-turns.ts";
import type { RunningTurns } from "../turn/running-turns.ts";
import type { Lanes, RunResult } from "./lanes.ts";

interface Deps extends Pick<Kernel, "database"> {
  agents: Pick<ServiceOf<typeof agentsPlugin>, "find">;
  agentStats: Pick<ServiceOf<typeof agentStatsPlugin>, "turnStarted" | "turnEnded">;
  inbox: Pick<Inbox, "accept" | "rejectStatement">;
  lanes: Pick<Lanes<InboxEntry>, "push" | "resume">;
  runTurn(entry: InboxEntry): Promise<RunResult>;
  runningTurns: RunningTurns;
  liveTurns: Pick<LiveTurns, "end">;
  suspensions: Pick<Suspensions, "takeResumed">;
}

export function createEntryRuns(deps: Deps) {
  const { database, agents, agentStats, inbox, lanes, runTurn, runningTurns, liveTurns, suspensions } = deps;

  /** Stores messages of a platform, then hands the new ones to their lanes. */
  async function accept(messages: readonly InboundMessage[]): Promise<void> {
    const entries = await inbox.accept(messages);
    // What a database server stored before, without an answer, is in no lane; it comes before what is new.
    const isRepeated = entries.length < messages.length;
    if (database.file === undefined && isRepeated)
      for (const agentId of new Set(messages.map(({ agentId }) => agentId))) lanes.resume(agentId);
    for (const entry of entries) enqueue(entry);
  }

  function enqueue(entry: InboxEntry): void {
    // `/stop` cancels the running turn at once; its reply waits for its place in the lane.
    if (entry.kind === "command" && parseCommand(entry.content) === "stop") runningTurns.cancelConversation(entry);
    lanes.push(entry);
  }

  /** Runs an entry that has come to the head of its lane. */
  async function run(entry: InboxEntry): Promise<RunResult> {
    agentStats.turnStarted(entry.agentId);
    try {
      const result = await runTurn(entry);
      runningTurns.end(entry);
      if (suspensions.takeResumed(entry.id)) return { retryInMs: 0 };
      if (result === "pause" && !(await endTurnsIfFrozen(entry.agentId))) await rejectWaiting(entry.agentId);
      return result;
    } finally {
      agentStats.turnEnded(entry.agentId);
    }
  }

  /** Ends the turns of a frozen agent at once, and rejects its callers; their messages stay. False for any other agent. */
  async function endTurnsIfFrozen(agentId: string): Promise<boolean> {
    const agent = await agents.find(agentId);
    if (!agent || !isFrozen(agent)) return false;
    runningTurns.freezeAgent(agentId, agentFrozenError());
    return true;
  }

  /** Rejects callers that wait for a stopped agent, and settles their messages: they must not be answered later. */
  async function rejectWaiting(agentId: string): Promise<void> {
    const rejected = runningTurns.rejectWaiting(agentId, agentStoppedError());
    await database.write(rejected.map((id) => inbox.rejectStatement({ agentId, id })));
    for (const id of rejected) liveTurns.end(id, { error: agentStoppedError() });
  }

  return { accept, enqueue, run, endTurnsIfFrozen };
}
