// Limits visitors' messages to an agent: their rates, and how many of them are answered at once, by a semaphore per agent.
import { AppError } from "../../src/kernel/errors.ts";
import { rateLimitKey } from "../../src/kernel/http/client-address.ts";
import type { RateLimiter } from "../../src/kernel/security/rate-limits/rate-limiter.ts";
import { createSemaphore, type Semaphore } from "../../src/kernel/util/semaphore.ts";
import { SECOND } from "../../src/kernel/util/time.ts";

/**
 * Messages count under the rate limit `ai`: 1 for all visitors of an agent together, and this cost for each address. With
 * the default limit an agent gets 120 messages a minute, 20 of them from one address.
 */
const ADDRESS_COST = 6;
/** An agent works on four conversations at once; visitors leave at least one of them to the owner. */
const MAX_CONCURRENT = 3;
/** Visitors who may wait for one agent, and for how long. */
const MAX_WAITING = 32;
const MAX_WAIT_MS = 30 * SECOND;
/** Messages of one address to one agent, answered or waiting. IPv6 addresses count by network, as in rate limits. */
const MAX_PER_ADDRESS = 2;
const RETRY_AFTER_SECONDS = 5;

export interface VisitorLimiter {
  /** Counts a message; 429 `RATE_LIMITED` if a rate is exceeded. */
  countMessage(address: string, agentId: string): void;
  /**
   * Waits for the visitor's turn and resolves with the function that ends it (safe to call twice). Throws 429 `AGENT_BUSY`
   * if too many wait or the wait takes too long, and the signal's reason if it is aborted.
   */
  acquire(address: string, agentId: string, signal: AbortSignal): Promise<() => void>;
}

/** The visitors of one agent. */
interface AgentVisitors {
  readonly semaphore: Semaphore;
  /** Messages that are answered or waiting: in total, and by address. */
  total: number;
  readonly byAddress: Map<string, number>;
}

export function createVisitorLimiter({
  limits,
  maxWaitMs = MAX_WAIT_MS,
}: {
  limits: RateLimiter;
  maxWaitMs?: number;
}): VisitorLimiter {
  const visitorsByAgent = new Map<string, AgentVisitors>();

  function takeFromLimit(key: string, fullCost: number): void {
    // If the configured limit is below the cost, one message still passes.
    const cost = Math.max(1, Math.min(fullCost, limits.peek("ai", key).limit));
    const decision = limits.take("ai", key, cost);
    if (!decision.allowed) throw limits.tooManyRequests(decision);
  }

  /** Counts the visitor in and returns the function that counts them out. */
  function enter(agentId: string, visitors: AgentVisitors, addressKey: string): () => void {
    visitorsByAgent.set(agentId, visitors);
    visitors.total++;
    visitors.byAddress.set(addressKey, (visitors.byAddress.get(addressKey) ?? 0) + 1);
    return () => {
      const left = (visitors.byAddress.get(addressKey) ?? 1) - 1;
      if (left > 0) visitors.byAddress.set(addressKey, left);
      else visitors.byAddress.delete(addressKey);
      if (--visitors.total === 0) visitorsByAgent.delete(agentId);
    };
  }

  return {
    countMessage(address, agentId) {
      takeFromLimit(`visitor|${address}`, ADDRESS_COST);
      takeFromLimit(`visited ${agentId}`, 1);
    },

    async acquire(address, agentId, signal) {
      signal.throwIfAborted();
      const visitors = visitorsByAgent.get(agentId) ?? {
        semaphore: createSemaphore(MAX_CONCURRENT),
        total: 0,
        byAddress: new Map<string, number>(),
      };
      const addressKey = rateLimitKey(address);
      const isFull = visitors.total >= MAX_CONCURRENT + MAX_WAITING;
      if (isFull || (visitors.byAddress.get(addressKey) ?? 0) >= MAX_PER_ADDRESS) throw agentBusy();
      const leave = enter(agentId, visitors, addressKey);
      try {
        const release = await visitors.semaphore.acquire(1, { signal, timeout: { ms: maxWaitMs, error: agentBusy } });
        let isReleased = false;
        return () => {
          if (isReleased) return;
          isReleased = true;
          release();
          leave();
        };
      } catch (error) {
        leave();
        throw error;
      }
    },
  };
}

function agentBusy(): AppError {
  const headers = { "retry-after": String(RETRY_AFTER_SECONDS) };
  return new AppError(
    429,
    "AGENT_BUSY",
    "Too many visitors are talking to this agent. Try again shortly.",
    {},
    { headers },
  );
}
