// Limits how often the adapter writes, so that Telegram rarely has to refuse a call.
import { setTimeout as sleep } from "node:timers/promises";
import { ChannelError } from "../port.ts";
import { createRateLimiter, type RateRule } from "../shared/rate-limiter.ts";

export interface TelegramRateRules {
  bot: RateRule;
  chat: RateRule;
  group: RateRule;
  /** How often a preview is updated. Edits count like messages, drafts do not. */
  draft: RateRule;
  edit: RateRule;
  groupEdit: RateRule;
}

/**
 * 30/s per bot, 1/s per chat, 20/min per group: https://core.telegram.org/bots/faq#my-bot-is-hitting-limits-how-do-i-avoid-this
 * In every window, burst plus refill stay below the limit; the rule per bot has a margin for delayed messages. Telegram
 * "may" allow short bursts beyond one a second, which is not relied on.
 */
export const TELEGRAM_RATE_RULES: TelegramRateRules = {
  bot: { every: 50, burst: 6 },
  chat: { every: 1000, burst: 1 },
  group: { every: 4000, burst: 5 },
  draft: { every: 400, burst: 1 },
  edit: { every: 1000, burst: 1 },
  groupEdit: { every: 3000, burst: 1 },
};

/** A send that would wait longer fails with `busy`, so that it goes back to the outbox and frees its worker. */
const MAX_WAIT_MS = 5000;

export interface SendLimiter {
  /** Waits until a chat may be written to. Throws `busy` if that takes too long, or `signal` aborts. */
  acquire(bot: string, chat: number, signal: AbortSignal): Promise<void>;
  /** Restarts the chat's interval when the response has arrived, because the request may have been slow. */
  recordSent(bot: string, chat: number): void;
  /** Reserves an update of a draft; false if it is too early, or a reply would have to wait for it. */
  tryDraft(bot: string, chat: number): boolean;
  /** Reserves an edit of a preview; false also if it would use the group's last slot, which the reply needs. */
  tryEdit(bot: string, chat: number): boolean;
  /** Blocks a chat for as long as Telegram asked. */
  block(bot: string, chat: number, ms: number): void;
  forget(bot: string): void;
}

export function createSendLimiter(rules: TelegramRateRules = TELEGRAM_RATE_RULES, now?: () => number): SendLimiter {
  const { waitTime, take, block, forget } = createRateLimiter(now);
  const keyOf = (bot: string, chat: number) => `${bot}:${chat}`;
  // Telegram's groups have negative ids.
  const groupOf = (bot: string, chat: number) => (chat < 0 ? `${bot}:${chat}:group` : undefined);

  /** Milliseconds until a chat may be written to, with `reserved` more turns of a group to spare. */
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
