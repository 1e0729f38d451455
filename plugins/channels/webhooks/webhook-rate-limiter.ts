// Limits how often a platform may post for one bot: far above what any platform does, far below what would hurt other
// bots.
import { gcraBlock, gcraTake, gcraWait } from "../../../src/kernel/util/gcra.ts";
import { MINUTE } from "../../../src/kernel/util/time.ts";

/** Posts at once, and then one every so many milliseconds. */
const BURST = 5_000;
const INTERVAL_MS = 1;
/**
 * What a post counts for if only its address proves the sender, since the agent's own holder may be that sender:
 * 500 at once, 100 a second.
 */
export const UNSIGNED_POST_COST = 10;
/** The longest wait, whatever was counted. */
const MAX_WAIT_MS = MINUTE;

export interface WebhookRateLimiter {
  /** Counts one post; 0, or the milliseconds until there is room for it. */
  take(): number;
  /** Adds to the cost of a post that was already accepted. */
  charge(posts: number): void;
}

export function createWebhookRateLimiter({
  burst = BURST,
  every = INTERVAL_MS,
  now = () => performance.now(),
} = {}): WebhookRateLimiter {
  const rule = { burst, every };
  let wholeAt = 0;
  return {
    take() {
      const time = now();
      const wait = gcraWait(wholeAt, rule, time);
      if (wait === 0) wholeAt = gcraTake(wholeAt, rule, time);
      return wait;
    },
    charge(posts) {
      const time = now();
      wholeAt = Math.min(gcraTake(wholeAt, rule, time, posts), gcraBlock(rule, time, MAX_WAIT_MS));
    },
  };
}
