// What became of each part that was sent: WhatsApp has no idempotent send, but tells how a message fares, with what was
// given along. So before a part is sent again, its status is waited for a moment.
import { createRecent, type Recent } from "../shared/recent.ts";

/** `unsent`: it surely had no effect. `open`: nobody knows (yet). */
export type Fate =
  | { kind: "open"; since: number }
  | { kind: "unsent" }
  | { kind: "sent"; id: string }
  | { kind: "failed"; reason: string };

/** Parts are named by the account and by what was given along when they were sent. */
export interface Fates {
  set(account: string, callbackData: string, fate: Fate): void;
  /** What is known of a part of which an earlier try may have had an effect; waits for it, but not for long. */
  learn(account: string, callbackData: string, signal: AbortSignal): Promise<Fate>;
}

/** Parts whose fate is remembered for one account, so that nobody's statuses push out what others wait for; and accounts. */
const PARTS = 512;
const ACCOUNTS = 512;

/** `patience`: how long after a try its first status may take, in ms. */
export function createFates(patience: number): Fates {
  const accounts = createRecent<Recent<Fate>>(ACCOUNTS);
  const waiting = new Map<string, (fate: Fate) => void>();

  return {
    set(account, callbackData, fate) {
      const parts = accounts.get(account) ?? createRecent<Fate>(PARTS);
      accounts.set(account, parts);
      parts.set(callbackData, fate);
      if (fate.kind !== "open") waiting.get(`${account} ${callbackData}`)?.(fate);
    },
    async learn(account, callbackData, signal) {
      const key = `${account} ${callbackData}`;
      const fate = accounts.get(account)?.get(callbackData) ?? { kind: "open", since: Date.now() };
      const left = fate.kind === "open" ? fate.since + patience - Date.now() : 0;
      if (fate.kind !== "open" || left <= 0 || signal.aborted) return fate;
      const told = Promise.withResolvers<Fate>();
      const end = () => told.resolve(fate);
      const clock = setTimeout(end, left);
      signal.addEventListener("abort", end);
      waiting.set(key, told.resolve);
      try {
        return await told.promise;
      } finally {
        clearTimeout(clock);
        signal.removeEventListener("abort", end);
        waiting.delete(key);
      }
    },
  };
}
