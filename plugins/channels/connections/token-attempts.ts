// Limits how often an account or address may submit tokens that a platform refuses, because platforms count refusals
// against the whole host. Good tokens are not counted, so that an owner can connect any number of bots.
import { AppError } from "../../../src/kernel/errors.ts";
import type { Decision, RateLimiter } from "../../../src/kernel/security/rate-limits/rate-limiter.ts";

/** The code of the error for a token that its platform refuses. */
const REFUSED_TOKEN_CODE = "INVALID_CHANNEL_TOKEN";

/** An account and the address that it calls from. */
interface Caller {
  userId: string;
  address: string;
}

export interface TokenAttempts {
  /**
   * Runs `work`, and counts it by the rule `provision` if it fails with `INVALID_CHANNEL_TOKEN`. 429 `RATE_LIMITED` after
   * too many such failures. If the caller's attempts under way could use up the limit, it waits for them first.
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

  /** Takes one of each key; returns the refusal, if any, with nothing taken. */
  function take(keys: readonly string[]): Decision | undefined {
    for (const [at, key] of keys.entries()) {
      const decision = limits.take("provision", key);
      if (decision.allowed) continue;
      refundAll(keys.slice(0, at));
      return decision;
    }
    return undefined;
  }

  /** Takes one of each key, and returns the function that ends the attempt. */
  async function reserve(keys: readonly string[]): Promise<() => void> {
    for (let refused = take(keys); refused; refused = take(keys)) {
      const others = [...pending].filter((other) => other.keys.some((key) => keys.includes(key)));
      if (others.length === 0) throw limits.tooManyRequests(refused);
      await Promise.race(others.map(({ finished }) => finished));
    }
    // No await since `take`: a caller that the limit refuses must see this attempt as pending.
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
      // Separate keys, so that agents provisioned with good tokens do not count.
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
