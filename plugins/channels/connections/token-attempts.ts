// How often somebody may try tokens that no platform knows: each such try counts against this host there. Only what was
// refused is counted, so that an owner can connect as many bots as there are.
import { AppError } from "../../../src/kernel/errors.ts";
import type { Decision, RateLimiter } from "../../../src/kernel/security/rate-limits/rate-limiter.ts";

/** What connecting a token that is nobody's fails with. */
const REFUSED_TOKEN_CODE = "INVALID_CHANNEL_TOKEN";

/** Whoever tries: an account, from an address. */
interface Caller {
  userId: string;
  address: string;
}

export interface TokenAttempts {
  /**
   * Does the work, and counts it when it fails with `INVALID_CHANNEL_TOKEN`, by the rule `provision`. 429 `RATE_LIMITED`
   * when there were too many such failures. What could become one too many waits until the caller's others are over.
   */
  run<T>(caller: Caller, work: () => Promise<T>): Promise<T>;
}

interface PendingAttempt {
  keys: readonly string[];
  finished: Promise<void>;
}

export function createTokenAttempts(limits: Pick<RateLimiter, "take" | "refund" | "tooManyRequests">): TokenAttempts {
  const pending = new Set<PendingAttempt>();

  const refundAll = (keys: readonly string[]) => {
    for (const key of keys) limits.refund("provision", key);
  };

  /** Undefined: one was taken of each. */
  function take(keys: readonly string[]): Decision | undefined {
    for (const [at, key] of keys.entries()) {
      const decision = limits.take("provision", key);
      if (decision.allowed) continue;
      refundAll(keys.slice(0, at));
      return decision;
    }
    return undefined;
  }

  /** Takes one of each, and answers how to say that it is over. */
  async function reserve(keys: readonly string[]): Promise<() => void> {
    for (let refused = take(keys); refused; refused = take(keys)) {
      const others = [...pending].filter((other) => other.keys.some((key) => keys.includes(key)));
      if (others.length === 0) throw limits.tooManyRequests(refused);
      await Promise.race(others.map(({ finished }) => finished));
    }
    // In the same turn as it was taken: whoever finds nothing left finds who has it.
    const { promise: finished, resolve } = Promise.withResolvers<void>();
    const own = { keys, finished };
    pending.add(own);
    return () => {
      pending.delete(own);
      resolve();
    };
  }

  return {
    async run({ userId, address }, work) {
      // Keys of their own: agents made with good tokens leave no less room to try others.
      const keys = [`tokens|${address}`, `tokens|user ${userId}`];
      const end = await reserve(keys);
      try {
        const result = await work();
        refundAll(keys);
        return result;
      } catch (error) {
        if (!(error instanceof AppError && error.code === REFUSED_TOKEN_CODE)) refundAll(keys);
        throw error;
      } finally {
        end();
      }
    },
  };
}
