// Enforces Telegram's flood limits: 1 message a second in a chat, 20 a minute in a group, 30 a second for a bot.
// https://core.telegram.org/bots/faq#my-bot-is-hitting-limits-how-do-i-avoid-this

import { TelegramRefusal } from "./telegram-params.ts";

export type Rates = ReturnType<typeof createRates>;

export function createRates(enforced: () => boolean) {
  /** Times of the allowed calls within the window, by limit and key. */
  const windows = new Map<string, number[]>();
  const count = { refused: 0 };

  function check(limits: [key: string, most: number, perMs: number][]): void {
    if (!enforced()) return;
    const now = Date.now();
    const recent = limits.map(([key, most, perMs]) => {
      const times = (windows.get(key) ?? []).filter((time) => now - time < perMs);
      const oldest = times.length >= most ? times[times.length - most] : undefined;
      return { key, times, waitMs: oldest === undefined ? 0 : oldest + perMs - now };
    });
    const waitMs = Math.max(...recent.map((window) => window.waitMs));
    if (waitMs > 0) {
      count.refused += 1;
      const seconds = Math.max(1, Math.ceil(waitMs / 1000));
      throw new TelegramRefusal(429, `Too Many Requests: retry after ${seconds}`, { retry_after: seconds });
    }
    for (const { key, times } of recent) windows.set(key, [...times, now]);
  }

  const perBot = (bot: number): [string, number, number] => [`bot ${bot}`, 30, 1_000];

  return {
    count,
    /** Counts a message or an edit; throws if a limit is exceeded. */
    take(bot: number, chat: { id: number; type: string }): void {
      const group: [string, number, number][] =
        chat.type === "private" ? [] : [[`group ${bot} ${chat.id}`, 20, 60_000]];
      check([perBot(bot), [`chat ${bot} ${chat.id}`, 1, 1_000], ...group]);
    },
    takeDraft: (bot: number) => check([perBot(bot)]),
  };
}
