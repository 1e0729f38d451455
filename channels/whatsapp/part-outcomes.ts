// Remembers the outcome of each sent part. WhatsApp has no idempotent send, but its statuses carry the callback data
// that
// was sent along: before a part is sent again, its status is awaited briefly.
import { type BoundedMap, createBoundedMap } from "../../src/kernel/util/bounded-map.ts";

/** `unsent`: the send had no effect. `uncertain`: unknown so far. */
export type PartOutcome =
  | { kind: "uncertain"; since: number }
  | { kind: "unsent" }
  | { kind: "sent"; id: string }
  | { kind: "failed"; reason: string };

/** Parts are identified by their account and callback data. */
export interface PartOutcomes {
  set(account: string, callbackData: string, outcome: PartOutcome): void;
  /** The outcome of a part that an earlier try may have sent; waits for its status up to `statusTimeout`. */
  waitForOutcome(account: string, callbackData: string, signal: AbortSignal): Promise<PartOutcome>;
}

/** Parts remembered for each account, so that statuses of one account can't push out those of another; and accounts. */
const MAX_PARTS_PER_ACCOUNT = 512;
const MAX_ACCOUNTS = 512;

/** `statusTimeout`: how long after a try its first status may take, in ms. */
export function createPartOutcomes(statusTimeout: number): PartOutcomes {
  const accounts = createBoundedMap<BoundedMap<PartOutcome>>(MAX_ACCOUNTS);
  const waiting = new Map<string, (outcome: PartOutcome) => void>();

  return {
    set(account, callbackData, outcome) {
      const parts = accounts.get(account) ?? createBoundedMap<PartOutcome>(MAX_PARTS_PER_ACCOUNT);
      accounts.set(account, parts);
      parts.set(callbackData, outcome);
      if (outcome.kind !== "uncertain") waiting.get(`${account} ${callbackData}`)?.(outcome);
    },
    async waitForOutcome(account, callbackData, signal) {
      const key = `${account} ${callbackData}`;
      const outcome = accounts.get(account)?.get(callbackData) ?? { kind: "uncertain", since: Date.now() };
      const remaining = outcome.kind === "uncertain" ? outcome.since + statusTimeout - Date.now() : 0;
      if (outcome.kind !== "uncertain" || remaining <= 0 || signal.aborted) return outcome;
      const reported = Promise.withResolvers<PartOutcome>();
      const end = () => reported.resolve(outcome);
      const timer = setTimeout(end, remaining);
      signal.addEventListener("abort", end);
      waiting.set(key, reported.resolve);
      try {
        return await reported.promise;
      } finally {
        clearTimeout(timer);
        signal.removeEventListener("abort", end);
        waiting.delete(key);
      }
    },
  };
}
