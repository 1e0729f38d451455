// Timers that try again to bring up agents: one for each agent, with delays that grow with its failures.
import type { Log } from "../../src/kernel/telemetry/log.ts";
import { MINUTE, SECOND } from "../../src/kernel/util/time.ts";

export interface RetryTimers {
  /**
   * Tries this agent again after about 1 s at first, twice as long with each failure until `clear`, at most 5 minutes.
   */
  schedule(agentId: string): void;
  /** Cancels the retry of this agent and forgets its failures. */
  clear(agentId: string): void;
  /** Whether `close` was called: no retry begins after it. */
  isClosed(): boolean;
  close(): void;
}

const FIRST_DELAY_MS = SECOND;
const MAX_DELAY_MS = 5 * MINUTE;

export function createRetryTimers(log: Log, retry: (agentId: string) => Promise<void>): RetryTimers {
  const retries = new Map<string, { timer: Timer; failures: number }>();
  let closed = false;

  function clear(agentId: string): void {
    clearTimeout(retries.get(agentId)?.timer);
    retries.delete(agentId);
  }

  return {
    clear,
    isClosed: () => closed,

    schedule(agentId) {
      if (closed) return;
      const failures = (retries.get(agentId)?.failures ?? 0) + 1;
      clearTimeout(retries.get(agentId)?.timer);
      // Scattered by a quarter, so that agents that failed together are not tried together.
      const delay = Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** (failures - 1)) * (0.75 + Math.random() / 2);
      const timer = setTimeout(() => {
        retry(agentId).catch((error: unknown) => log.error("retrying an agent failed", { agentId, error }));
      }, delay).unref();
      retries.set(agentId, { timer, failures });
    },

    close() {
      closed = true;
      for (const agentId of [...retries.keys()]) clear(agentId);
    },
  };
}
