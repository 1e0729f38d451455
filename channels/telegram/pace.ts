// Keeps under Telegram's limits, so that being told to wait is rare.
import { setTimeout as sleep } from "node:timers/promises";
import { ChannelError } from "../channel.ts";
import { createRates, type Rule } from "../shared/rates.ts";

export interface Rules {
  bot: Rule;
  chat: Rule;
  group: Rule;
  /** How often a growing reply is shown again: drafts are cheap, edits count like messages. */
  draft: Rule;
  edit: Rule;
  groupEdit: Rule;
}

/**
 * 30/s per bot, about 1/s per chat, 20/min per group: https://core.telegram.org/bots/faq#my-bot-is-hitting-limits-how-do-i-avoid-this
 * Burst and rate together stay within the figure in every window of that length.
 */
export const TELEGRAM_RULES: Rules = {
  bot: { every: 40, burst: 5 },
  chat: { every: 1000, burst: 3 },
  group: { every: 4000, burst: 5 },
  draft: { every: 400, burst: 1 },
  edit: { every: 1000, burst: 1 },
  groupEdit: { every: 3000, burst: 1 },
};

/** A send that would wait longer goes back to the outbox instead of holding its worker. */
const LONGEST_WAIT = 5000;

export interface Pace {
  /** Waits for the turn to write to a chat. `busy` when that is far off, or `signal` aborts. */
  turn(bot: string, chat: number, signal: AbortSignal): Promise<void>;
  /** Takes a turn to show a growing reply as a draft, if it is time again and nothing has to wait for it. */
  draft(bot: string, chat: number): boolean;
  /** The same as a message that is edited: only if the chat then still has a turn for the reply. */
  edit(bot: string, chat: number): boolean;
  /** Telegram said to leave this chat alone for so long. */
  hold(bot: string, chat: number, ms: number): void;
  forget(bot: string): void;
}

export function createPace(rules: Rules = TELEGRAM_RULES, now?: () => number): Pace {
  const { wait, take, hold, forget } = createRates(now);
  // Telegram's groups have negative ids.
  const ruleOf = (chat: number) => (chat < 0 ? rules.group : rules.chat);

  return {
    async turn(bot, chat, signal) {
      const key = `${bot}:${chat}`;
      const ms = Math.max(wait(bot, rules.bot), wait(key, ruleOf(chat)));
      if (ms > LONGEST_WAIT)
        throw new ChannelError("busy", "This chat has reached Telegram's limit.", "peer", Math.ceil(ms));
      take(bot, rules.bot);
      take(key, ruleOf(chat));
      if (ms === 0) return;
      await sleep(ms, undefined, { signal }).catch(() => {
        throw new ChannelError("busy", "Stopped before it was sent.", "peer", 0);
      });
    },
    draft(bot, chat) {
      const key = `${bot}:${chat}`;
      const shown = `${key}:draft`;
      if (wait(key, ruleOf(chat)) > 0 || wait(bot, rules.bot, 1) > 0 || wait(shown, rules.draft) > 0) return false;
      take(bot, rules.bot);
      take(shown, rules.draft);
      return true;
    },
    edit(bot, chat) {
      const key = `${bot}:${chat}`;
      const shown = `${key}:edit`;
      const rule = chat < 0 ? rules.groupEdit : rules.edit;
      if (wait(key, ruleOf(chat), 1) > 0 || wait(bot, rules.bot, 1) > 0 || wait(shown, rule) > 0) return false;
      take(bot, rules.bot);
      take(key, ruleOf(chat));
      take(shown, rule);
      return true;
    },
    hold: (bot, chat, ms) => hold(`${bot}:${chat}`, ruleOf(chat), ms),
    forget(bot) {
      forget((key) => key === bot || key.startsWith(`${bot}:`));
    },
  };
}
