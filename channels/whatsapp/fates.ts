// What became of each part that was sent: WhatsApp has no idempotent send, but tells how a message fares, with what was
// given along. So before a part is sent again, its status is waited for a moment.
import { createRecent } from "../shared/recent.ts";

/** `unsent`: it surely had no effect. `open`: nobody knows (yet). */
export type Fate =
  | { kind: "open"; since: number }
  | { kind: "unsent" }
  | { kind: "sent"; id: string }
  | { kind: "failed"; reason: string };

export interface Fates {
  set(key: string, fate: Fate): void;
  /** What is known of a part of which an earlier try may have had an effect; waits for it, but not for long. */
  learn(key: string, signal: AbortSignal): Promise<Fate>;
}

/** Parts whose fate is remembered, over all agents. */
const KEPT = 4096;

/** `patience`: how long after a try its first status may take, in ms. */
export function createFates(patience: number): Fates {
  const known = createRecent<Fate>(KEPT);
  const waiting = new Map<string, (fate: Fate) => void>();

  return {
    set(key, fate) {
      known.set(key, fate);
      if (fate.kind !== "open") waiting.get(key)?.(fate);
    },
    async learn(key, signal) {
      const fate = known.get(key) ?? { kind: "open", since: Date.now() };
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
