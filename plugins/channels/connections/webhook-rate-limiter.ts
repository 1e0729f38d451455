// How often a platform may post for one bot: far more than any platform does, far less than would hurt the others.

/** Posts at once, and then one every so many ms. */
const BURST = 5_000;
const INTERVAL_MS = 1;
/** What a post counts for whose sender its address alone proves, as an agent's own holder may be: 500 at once, 100 a second. */
export const UNSIGNED_POST_COST = 10;
/** Milliseconds that one waits at most, whatever was counted. */
const MAX_WAIT_MS = 60_000;

export interface WebhookRateLimiter {
  /** Counts one post; 0, or the milliseconds until there is room for it. */
  take(): number;
  /** Counts so many more for a post that was let in. */
  charge(posts: number): void;
}

/** The generic cell rate algorithm: one number, the time at which the burst is whole again. */
export function createWebhookRateLimiter({
  burst = BURST,
  every = INTERVAL_MS,
  now = () => performance.now(),
} = {}): WebhookRateLimiter {
  let theoreticalArrivalTime = 0;
  return {
    take() {
      const time = now();
      const wait = theoreticalArrivalTime - (burst - 1) * every - time;
      if (wait > 0) return wait;
      theoreticalArrivalTime = Math.max(theoreticalArrivalTime, time) + every;
      return 0;
    },
    charge(posts) {
      const time = now();
      const latest = time + (burst - 1) * every + MAX_WAIT_MS;
      theoreticalArrivalTime = Math.min(Math.max(theoreticalArrivalTime, time) + posts * every, latest);
    },
  };
}
