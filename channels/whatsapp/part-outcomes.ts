// What became of each part that was sent: WhatsApp has no idempotent send, but tells how a message fares, with what was
// given along. So before a part is sent again, its status is waited for a moment.
import { createLruCache, type LruCache } from "../shared/lru-cache.ts";

/** `unsent`: it surely had no effect. `open`: nobody knows (yet). */
export type PartOutcome =
  | { kind: "open"; since: number }
  | { kind: "unsent" }
  | { kind: "sent"; id: string }
  | { kind: "failed"; reason: string };

/** Parts are named by the account and by what was given along when they were sent. */
export interface PartOutcomes {
  set(account: string, callbackData: string, outcome: PartOutcome): void;
  /** What is known of a part of which an earlier try may have had an effect; waits for it, but not for long. */
  waitForOutcome(account: string, callbackData: string, signal: AbortSignal): Promise<PartOutcome>;
}

/** Parts whose fate is remembered for one account, so that nobody's statuses push out what others wait for; and accounts. */
const MAX_PARTS_PER_ACCOUNT = 512;
const MAX_ACCOUNTS = 512;

/** `statusTimeout`: how long after a try its first status may take, in ms. */
export function createPartOutcomes(statusTimeout: number): PartOutcomes {
  const accounts = createLruCache<LruCache<PartOutcome>>(MAX_ACCOUNTS);
  const waiting = new Map<string, (outcome: PartOutcome) => void>();

  return {
    set(account, callbackData, outcome) {
      const parts = accounts.get(account) ?? createLruCache<PartOutcome>(MAX_PARTS_PER_ACCOUNT);
      accounts.set(account, parts);
      parts.set(callbackData, outcome);
      if (outcome.kind !== "open") waiting.get(`${account} ${callbackData}`)?.(outcome);
    },
    async waitForOutcome(account, callbackData, signal) {
      const key = `${account} ${callbackData}`;
      const outcome = accounts.get(account)?.get(callbackData) ?? { kind: "open", since: Date.now() };
      const left = outcome.kind === "open" ? outcome.since + statusTimeout - Date.now() : 0;
      if (outcome.kind !== "open" || left <= 0 || signal.aborted) return outcome;
      const reported = Promise.withResolvers<PartOutcome>();
      const end = () => reported.resolve(outcome);
      const timer = setTimeout(end, left);
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
