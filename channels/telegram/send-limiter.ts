// Keeps under Telegram's limits, so that being told to wait is rare.
import { setTimeout as sleep } from "node:timers/promises";
import { ChannelError } from "../port.ts";
import { createRateLimiter, type RateRule } from "../shared/rate-limiter.ts";

export interface TelegramRateRules {
  bot: RateRule;
  chat: RateRule;
  group: RateRule;
  /** How often a growing reply is shown again: drafts are cheap, edits count like messages. */
  draft: RateRule;
  edit: RateRule;
  groupEdit: RateRule;
}

/**
 * 30/s per bot, 1/s per chat, 20/min per group: https://core.telegram.org/bots/faq#my-bot-is-hitting-limits-how-do-i-avoid-this
 * Burst and rate together stay within the figure in every window of that length, for bots with room for what the network
 * holds up. Telegram says that it "may" allow short bursts beyond one a second: that is nothing to build on.
 */
export const TELEGRAM_RATE_RULES: TelegramRateRules = {
  bot: { every: 50, burst: 6 },
  chat: { every: 1000, burst: 1 },
  group: { every: 4000, burst: 5 },
  draft: { every: 400, burst: 1 },
  edit: { every: 1000, burst: 1 },
  groupEdit: { every: 3000, burst: 1 },
};

/** A send that would wait longer goes back to the outbox instead of holding its worker. */
const MAX_WAIT_MS = 5000;

export interface SendLimiter {
  /** Waits for the turn to write to a chat. `busy` when that is far off, or `signal` aborts. */
  acquire(bot: string, chat: number, signal: AbortSignal): Promise<void>;
  /** It was written: the chat's next turn counts from now, since nobody knows how long it was on its way. */
  recordSent(bot: string, chat: number): void;
  /** Takes a turn to show a growing reply as a draft, if it is time again and nothing has to wait for it. */
  tryDraft(bot: string, chat: number): boolean;
  /** The same as a message that is edited: only if a group then still has a turn for the reply. */
  tryEdit(bot: string, chat: number): boolean;
  /** Telegram said to leave this chat alone for so long. */
  block(bot: string, chat: number, ms: number): void;
  forget(bot: string): void;
}

export function createSendLimiter(rules: TelegramRateRules = TELEGRAM_RATE_RULES, now?: () => number): SendLimiter {
  const { waitTime, take, block, forget } = createRateLimiter(now);
  const keyOf = (bot: string, chat: number) => `${bot}:${chat}`;
  // Telegram's groups have negative ids.
  const groupOf = (bot: string, chat: number) => (chat < 0 ? `${bot}:${chat}:group` : undefined);

  /** Milliseconds until this chat may be written to, with `reserved` turns of a group to spare. */
  function waitFor(bot: string, chat: number, reserved = 0): number {
    const group = groupOf(bot, chat);
    const own = waitTime(keyOf(bot, chat), rules.chat);
    return group === undefined ? own : Math.max(own, waitTime(group, rules.group, reserved));
  }

  function takeFor(bot: string, chat: number): void {
    const group = groupOf(bot, chat);
    take(bot, rules.bot);
    take(keyOf(bot, chat), rules.chat);
    if (group !== undefined) take(group, rules.group);
  }

  return {
    async acquire(bot, chat, signal) {
      const ms = Math.max(waitTime(bot, rules.bot), waitFor(bot, chat));
      if (ms > MAX_WAIT_MS)
        throw new ChannelError("busy", "This chat has reached Telegram's limit.", "peer", Math.ceil(ms));
      takeFor(bot, chat);
      if (ms === 0) return;
      await sleep(ms, undefined, { signal }).catch(() => {
        throw new ChannelError("busy", "Stopped before it was sent.", "peer", 0);
      });
    },
    recordSent: (bot, chat) => block(keyOf(bot, chat), rules.chat, rules.chat.every),
    tryDraft(bot, chat) {
      const shown = `${keyOf(bot, chat)}:draft`;
      if (waitFor(bot, chat) > 0 || waitTime(bot, rules.bot, 1) > 0 || waitTime(shown, rules.draft) > 0) return false;
      take(bot, rules.bot);
      take(shown, rules.draft);
      return true;
    },
    tryEdit(bot, chat) {
      const shown = `${keyOf(bot, chat)}:edit`;
      const rule = chat < 0 ? rules.groupEdit : rules.edit;
      if (waitFor(bot, chat, 1) > 0 || waitTime(bot, rules.bot, 1) > 0 || waitTime(shown, rule) > 0) return false;
      takeFor(bot, chat);
      take(shown, rule);
      return true;
    },
    block: (bot, chat, ms) => block(keyOf(bot, chat), rules.chat, ms),
    forget(bot) {
      forget((key) => key === bot || key.startsWith(`${bot}:`));
    },
  };
}
