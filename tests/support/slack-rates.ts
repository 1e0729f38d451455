// Enforces Slack's rate limits: calls of a method a minute, and messages a second in a channel.
// https://docs.slack.dev/apis/web-api/rate-limits
import { TooMany } from "./slack-refusal.ts";
import type { Route } from "./slack-types.ts";

/** Calls a minute of each app, by Slack's tiers. */
const PER_MINUTE: Readonly<Partial<Record<Route, number>>> = {
  "chat.update": 50,
  "conversations.history": 50,
  "conversations.replies": 50,
  "files.getUploadURLExternal": 100,
  "files.completeUploadExternal": 100,
  "files.info": 100,
  "users.info": 100,
};
/** One message a second and channel; short bursts are allowed. */
const MESSAGES = { limit: 5, withinMs: 5_000 };

export function createRates(isEnabled: () => boolean) {
  const windows = new Map<string, number[]>();
  const count = { refused: 0 };

  function take(key: string, limit: number, withinMs: number): void {
    const now = performance.now();
    const times = (windows.get(key) ?? []).filter((at) => now - at < withinMs);
    windows.set(key, times);
    if (times.length >= limit) {
      count.refused++;
      throw new TooMany(((times[0] ?? now) + withinMs - now) / 1000);
    }
    times.push(now);
  }

  return {
    count,
    check(app: string, route: Route, channel: string | undefined): void {
      if (!isEnabled()) return;
      const perMinute = PER_MINUTE[route];
      if (perMinute !== undefined) take(`${app} ${route}`, perMinute, 60_000);
      if (route === "chat.postMessage") take(`${app} ${channel}`, MESSAGES.limit, MESSAGES.withinMs);
    },
  };
}
