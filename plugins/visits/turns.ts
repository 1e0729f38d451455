// How much visitors may ask of an agent: so much of one address, so much of all, and little enough at once.
import { rateKey } from "../../src/client-address.ts";
import { AppError } from "../../src/errors.ts";
import type { Limits } from "../../src/limits.ts";

/**
 * Visitors count under the rule `ai`, in accounts of their own: all of one agent's as one caller of `/api/ai`, one address
 * of them as a sixth of it. With the rule as it is, 120 messages a minute to an agent, 20 from an address.
 */
const SHARE = 6;
/** An agent works on four conversations at once: one place at least is its owner's. */
const INSIDE = 3;
/** Visitors of an agent who wait for their turn, and how long, in ms. */
const QUEUE = 32;
const PATIENCE = 30_000;
/** Messages of one address, as rates count it, to one agent, inside or waiting. */
const PER_ADDRESS = 2;
/** Seconds. */
const COME_BACK = 5;

export interface Turns {
  /** Counts a message of this address to this agent; 429 `RATE_LIMITED` past a rate. */
  count(address: string, agentId: string): void;
  /**
   * Resolves when it is this visitor's turn, with what ends it. Throws 429 `AGENT_BUSY` where too many wait or the wait is
   * too long, and the signal's reason.
   */
  begin(address: string, agentId: string, signal: AbortSignal): Promise<() => void>;
}

interface Door {
  inside: number;
  readonly waiting: Set<() => void>;
  readonly addresses: Map<string, number>;
}

export function createTurns({ limits, patience = PATIENCE }: { limits: Limits; patience?: number }): Turns {
  const doors = new Map<string, Door>();

  function spend(key: string, share: number): void {
    // A rule that was made narrower than the share still lets one through.
    const cost = Math.max(1, Math.min(share, limits.peek("ai", key).limit));
    const decision = limits.take("ai", key, cost);
    if (!decision.allowed) throw limits.refusal(decision);
  }

  /** In the order of their coming, each as soon as somebody leaves. */
  async function queue({ waiting }: Door, signal: AbortSignal): Promise<void> {
    if (waiting.size >= QUEUE) throw busy();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const left = () => reject(signal.reason);
    const late = setTimeout(() => reject(busy()), patience);
    signal.addEventListener("abort", left, { once: true });
    waiting.add(resolve);
    try {
      await promise;
    } finally {
      waiting.delete(resolve);
      clearTimeout(late);
      signal.removeEventListener("abort", left);
    }
  }

  return {
    count(address, agentId) {
      spend(`visitor|${address}`, SHARE);
      spend(`visited ${agentId}`, 1);
    },

    async begin(address, agentId, signal) {
      signal.throwIfAborted();
      const door = doors.get(agentId) ?? { inside: 0, waiting: new Set(), addresses: new Map() };
      const from = rateKey(address);
      const theirs = door.addresses.get(from) ?? 0;
      if (theirs >= PER_ADDRESS) throw busy();
      doors.set(agentId, door);
      door.addresses.set(from, theirs + 1);
      const forget = () => {
        const left = (door.addresses.get(from) ?? 1) - 1;
        if (left > 0) door.addresses.set(from, left);
        else door.addresses.delete(from);
        if (door.addresses.size === 0) doors.delete(agentId);
      };
      try {
        // Whoever leaves hands the place over, so it is never more than these.
        if (door.inside >= INSIDE) await queue(door, signal);
        else door.inside++;
      } catch (error) {
        forget();
        throw error;
      }
      let over = false;
      return () => {
        if (over) return;
        over = true;
        const [next] = door.waiting;
        if (next) {
          door.waiting.delete(next);
          next();
        } else door.inside--;
        forget();
      };
    },
  };
}

function busy(): AppError {
  const headers = { "retry-after": String(COME_BACK) };
  return new AppError(429, "AGENT_BUSY", "Too many are talking to this agent. Try again shortly.", {}, { headers });
}
