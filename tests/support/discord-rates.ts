// Enforces Discord's rate limits: messages per channel, edits per channel, and all calls of a bot.
// https://discord.com/developers/docs/topics/rate-limits

import { tooMany } from "./discord-refusal.ts";
import type { Route } from "./discord-types.ts";

const PER_CHANNEL = { limit: 5, withinMs: 5_000 };
const PER_BOT = { limit: 50, withinMs: 1_000 };
const METERED: readonly Route[] = ["createMessage", "editMessage", "typing"];
/** Routes that do not count towards the bot's limit: they authenticate by the token in their address. */
const FREE: readonly Route[] = ["acknowledge", "getOriginal", "editOriginal", "deleteOriginal", "followUp", "file"];

export type Rates = ReturnType<typeof createRates>;

export function createRates(enabled: () => boolean) {
  const windows = new Map<string, number[]>();
  const count = { refused: 0 };

  /** `wait`: seconds until the call is allowed, 0 if it was counted; `left`: calls that are still allowed. */
  function take(key: string, { limit, withinMs }: typeof PER_CHANNEL): { wait: number; left: number; reset: number } {
    const now = performance.now();
    const times = (windows.get(key) ?? []).filter((at) => now - at < withinMs);
    windows.set(key, times);
    const reset = ((times[0] ?? now) + withinMs - now) / 1000;
    if (times.length >= limit) return { wait: reset, left: 0, reset };
    times.push(now);
    return { wait: 0, left: limit - times.length, reset };
  }

  return {
    count,
    /** Throws if a limit is exceeded; else returns the rate limit headers of the response. */
    check(botId: string, route: Route, channelId: string | undefined): Record<string, string> {
      if (!enabled()) return {};
      if (!FREE.includes(route)) {
        const { wait } = take(botId, PER_BOT);
        if (wait > 0) {
          count.refused++;
          throw tooMany(wait, "global");
        }
      }
      if (!METERED.includes(route) || channelId === undefined) return {};
      const { wait, left, reset } = take(`${botId} ${route} ${channelId}`, PER_CHANNEL);
      if (wait > 0) {
        count.refused++;
        throw tooMany(wait, "user");
      }
      return {
        "x-ratelimit-limit": String(PER_CHANNEL.limit),
        "x-ratelimit-remaining": String(left),
        "x-ratelimit-reset": String(Date.now() / 1000 + reset),
        "x-ratelimit-reset-after": reset.toFixed(3),
        "x-ratelimit-bucket": `${route}-bucket`,
      };
    },
  };
}
