// How much visitors may ask of an agent: so much of one address, so much of all, and little enough at once.

import { AppError } from "../../src/kernel/errors.ts";
import { rateLimitKey } from "../../src/kernel/http/client-address.ts";
import type { RateLimiter } from "../../src/kernel/security/rate-limits/rate-limiter.ts";

/**
 * Visitors count under the rule `ai`, in accounts of their own: all of one agent's as one caller of `/api/ai`, one address
 * of them as a sixth of it. With the rule as it is, 120 messages a minute to an agent, 20 from an address.
 */
const ADDRESS_COST = 6;
/** An agent works on four conversations at once: one place at least is its owner's. */
const MAX_CONCURRENT = 3;
/** Visitors of an agent who wait for their turn, and how long, in ms. */
const MAX_WAITING = 32;
const MAX_WAIT_MS = 30_000;
/** Messages of one address, as rates count it, to one agent, inside or waiting. */
const MAX_PER_ADDRESS = 2;
/** Seconds. */
const RETRY_AFTER_SECONDS = 5;

export interface VisitorLimiter {
  /** Counts a message of this address to this agent; 429 `RATE_LIMITED` past a rate. */
  countMessage(address: string, agentId: string): void;
  /**
   * Resolves when it is this visitor's turn, with what ends it. Throws 429 `AGENT_BUSY` where too many wait or the wait is
   * too long, and the signal's reason.
   */
  acquire(address: string, agentId: string, signal: AbortSignal): Promise<() => void>;
}

interface AgentSlots {
  running: number;
  readonly waiting: Set<() => void>;
  readonly addresses: Map<string, number>;
}

export function createVisitorLimiter({
  limits,
  maxWaitMs = MAX_WAIT_MS,
}: {
  limits: RateLimiter;
  maxWaitMs?: number;
}): VisitorLimiter {
  const slotsByAgent = new Map<string, AgentSlots>();

  function takeFromLimit(key: string, share: number): void {
    // A rule that was made narrower than the share still lets one through.
    const cost = Math.max(1, Math.min(share, limits.peek("ai", key).limit));
    const decision = limits.take("ai", key, cost);
    if (!decision.allowed) throw limits.tooManyRequests(decision);
  }

  /** In the order of their coming, each as soon as somebody leaves. */
  async function waitForSlot({ waiting }: AgentSlots, signal: AbortSignal): Promise<void> {
    if (waiting.size >= MAX_WAITING) throw agentBusy();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const onAbort = () => reject(signal.reason);
    const timeout = setTimeout(() => reject(agentBusy()), maxWaitMs);
    signal.addEventListener("abort", onAbort, { once: true });
    waiting.add(resolve);
    try {
      await promise;
    } finally {
      waiting.delete(resolve);
      clearTimeout(timeout);
      signal.removeEventListener("abort", onAbort);
    }
  }

  return {
    countMessage(address, agentId) {
      takeFromLimit(`visitor|${address}`, ADDRESS_COST);
      takeFromLimit(`visited ${agentId}`, 1);
    },

    async acquire(address, agentId, signal) {
      signal.throwIfAborted();
      const slots = slotsByAgent.get(agentId) ?? { running: 0, waiting: new Set(), addresses: new Map() };
      const addressKey = rateLimitKey(address);
      const addressCount = slots.addresses.get(addressKey) ?? 0;
      if (addressCount >= MAX_PER_ADDRESS) throw agentBusy();
      slotsByAgent.set(agentId, slots);
      slots.addresses.set(addressKey, addressCount + 1);
      const releaseAddress = () => {
        const left = (slots.addresses.get(addressKey) ?? 1) - 1;
        if (left > 0) slots.addresses.set(addressKey, left);
        else slots.addresses.delete(addressKey);
        if (slots.addresses.size === 0) slotsByAgent.delete(agentId);
      };
      try {
        // Whoever leaves hands the place over, so it is never more than these.
        if (slots.running >= MAX_CONCURRENT) await waitForSlot(slots, signal);
        else slots.running++;
      } catch (error) {
        releaseAddress();
        throw error;
      }
      let isReleased = false;
      return () => {
        if (isReleased) return;
        isReleased = true;
        const [next] = slots.waiting;
        if (next) {
          slots.waiting.delete(next);
          next();
        } else slots.running--;
        releaseAddress();
      };
    },
  };
}

function agentBusy(): AppError {
  const headers = { "retry-after": String(RETRY_AFTER_SECONDS) };
  return new AppError(429, "AGENT_BUSY", "Too many are talking to this agent. Try again shortly.", {}, { headers });
}
