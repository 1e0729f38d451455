// The types of the Telegram fake that tests use: options, bots, planned failures.

import type { Draft, Says, SentMessage } from "./telegram-bot.ts";
import type { Update } from "./telegram-updates.ts";

export interface TelegramOptions {
  port?: number;
  /** Enforce Telegram's flood limits (telegram-rates.ts). Default: off. */
  rates?: boolean;
  /** Whether `sendMessageDraft` works. Default: on. */
  drafts?: boolean;
  /**
   * The whole platform is down from now on: every call gets status 502, or its connection is
   * reset; messages of users wait. Calls in progress still succeed, except for polls.
   */
  down?: "broken" | "cut" | false;
  /** Duration of every call except getUpdates, half of it before its effect and half after. */
  latencyMs?: number;
  /** Delay before an update is posted again, doubled each time up to 64 times as much. Default: 50. */
  webhookRetryMs?: number;
  /** Default: 10 s. */
  webhookTimeoutMs?: number;
  /** Maps a webhook's address to the one that is really used, for addresses that do not exist in a test. */
  webhookAddress?: (url: string) => string;
}

/** `cut`: the connection is reset. `hang`: no response until the client disconnects. `garbage`: a proxy's HTML page. */
export type Accident =
  | { status: number; retryAfter?: number; description?: string }
  | { slowMs: number }
  /** The call waits for this promise; only for a fake in the test's own process. */
  | { until: Promise<unknown> }
  | "cut"
  | "hang"
  | "garbage";

export interface AccidentOptions {
  /** Default 1. */
  times?: number;
  /** Before the call's effect (default), or after it: the message exists, but its response is lost. */
  when?: "before" | "after";
  /** Only for this bot, only in this chat. */
  botId?: number;
  chatId?: number;
}

export interface ApiCall {
  botId: number;
  method: string;
  params: Record<string, unknown>;
  at: number;
  /** 0: no response (cut, or the client disconnected). */
  status: number;
}

/** A bot and its users. Updates are queued for polling, or posted to the webhook. */
export interface FakeBot {
  readonly id: number;
  readonly username: string;
  readonly token: string;
  /** Sends a message in a private chat (positive id) or a group (negative id; a supergroup by default). */
  userSays(chatId: number, text: string, says?: Says): { updateId: number | undefined; messageId: number };
  /** Presses a button with this data below a message of the bot. */
  userPresses(chatId: number, messageId: number, data: string, from?: { id: number }): number | undefined;
  userEdits(chatId: number, messageId: number, text: string): number | undefined;
  /** The user deletes an own message or one of the bot's. Bots get no update for it. */
  userDeletes(chatId: number, messageId: number): void;
  userSendsFile(chatId: number, name: string, bytes: Uint8Array, caption?: string, says?: Says): { messageId: number };
  /** Calls for this chat fail with 403 until the user writes again. */
  userBlocks(chatId: number): void;
  /** A group becomes a supergroup, with another id. */
  groupUpgrades(chatId: number, to: number): void;
  /** Sends any other update. */
  pushes(kind: string, payload: unknown): Update | undefined;
  /** Sends the same update again. */
  repeats(updateId: number): void;
  /** Holds new updates back; `release(true)` sends them in reverse order at once. */
  hold(): void;
  release(reverse?: boolean): void;
  /** The bot's messages, oldest first. */
  sent(chatId?: number): SentMessage[];
  drafts(chatId?: number): Draft[];
  actions(chatId?: number): { chatId: number; action: string; at: number }[];
  /** Number of updates that are neither confirmed nor accepted by the webhook. */
  pending(): number;
  readonly polling: boolean;
  readonly webhook: { url: string; secret?: string; maxConnections: number } | undefined;
  readonly commands: object[];
}

export interface Telegram extends AsyncDisposable {
  /** The value of `CHANNEL_A_API_ROOT`. */
  readonly url: string;
  /** Adds a bot; its default id is the token's. Throws for an invalid token. */
  addBot(token: string, about?: { id?: number; username?: string }): FakeBot;
  bot(token: string): FakeBot;
  /** Makes the token invalid: calls with it get 401. */
  revoke(token: string): void;
  /** Plans a failure of the next calls of a method (`*`: any method). */
  fail(method: string, accident: Accident, options?: AccidentOptions): void;
  set(options: Pick<TelegramOptions, "rates" | "drafts" | "latencyMs" | "down">): void;
  /** All calls except getUpdates, in order. */
  readonly calls: ApiCall[];
  stats(): TelegramStats;
  waitFor<T>(predicate: (telegram: Telegram) => T, timeoutMs?: number): Promise<NonNullable<T>>;
  stop(): Promise<void>;
}

export interface TelegramStats {
  bots: number;
  sent: number;
  pending: number;
  polling: number;
  updates: number;
  posted: number;
  /** Number of posts that the webhook rejected. */
  refusedPosts: number;
  conflicts: number;
  /** When they happened, in epoch ms. */
  conflictsAt: number[];
  tooMany: number;
  /** Number of calls while the platform was down. */
  turnedAway: number;
  /** When each bot first polled or set its webhook after the last outage (or the start), in epoch ms. */
  returned: number[];
  calls: Record<string, number>;
}
