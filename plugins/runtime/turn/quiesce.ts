// Gives exclusive access to an agent's sessions: waits until none of its turns run, does the work, then lets turns go on.
import { SECOND } from "../../../src/kernel/util/time.ts";
import type { InboxEntry } from "../inbox/entries.ts";
import type { Lanes } from "../lanes/lanes.ts";
import type { Sessions } from "../sessions/sessions.ts";
import type { RunningTurns } from "./running-turns.ts";

/** How long turns may still run before they are aborted. */
const QUIESCE_TIMEOUT = 10 * SECOND;

interface Deps {
  lanes: Pick<Lanes<InboxEntry>, "quiesce" | "drop" | "resume">;
  runningTurns: Pick<RunningTurns, "interruptAgent">;
  sessions: Pick<Sessions, "invalidateAgent">;
  /** Milliseconds; for tests. */
  timeoutMs?: number | undefined;
}

/**
 * Runs work that changes an agent's sessions while none of its turns run. Turns that take too long are aborted and run
 * again afterwards; messages that arrive meanwhile wait in the inbox.
 */
export type WhileQuiesced = <Result>(agentId: string, work: () => Promise<Result>) => Promise<Result>;

export function createQuiesce({ lanes, runningTurns, sessions, timeoutMs = QUIESCE_TIMEOUT }: Deps): WhileQuiesced {
  return async (agentId, work) => {
    const { idle, release } = lanes.quiesce(agentId);
    const timer = setTimeout(() => runningTurns.interruptAgent(agentId), timeoutMs);
    try {
      await idle;
      try {
        return await work();
      } finally {
        sessions.invalidateAgent(agentId);
        // Entries in memory name sessions that may be gone: they are read again.
        lanes.drop(agentId);
      }
    } finally {
      clearTimeout(timer);
      release();
      lanes.resume(agentId);
    }
  };
}
