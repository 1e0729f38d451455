// What tests see of the Telegram fake: its options, its bots, the accidents it can have.

import type { Draft, Says, SentMessage } from "./telegram-bot.ts";
import type { Update } from "./telegram-updates.ts";

export interface TelegramOptions {
  port?: number;
  /** Enforce Telegram's flood limits (telegram-rates.ts). Default: off. */
  rates?: boolean;
  /** `sendMessageDraft` works. Default: on. */
  drafts?: boolean;
  /**
   * The whole platform is away for what is called from now on: every call is answered with 502, or its connection is
   * reset; what people write waits. Calls on their way still end well, but for polls.
   */
  down?: "broken" | "cut" | false;
  /** Every call but getUpdates takes this long, half before its effect and half after. */
  latencyMs?: number;
  /** Before an update is posted again; doubled each time, up to 64 times as much. Default 50. */
  webhookRetryMs?: number;
  /** Default 10 s. */
  webhookTimeoutMs?: number;
  /** Where posts for this address really go, for addresses that lead nowhere in a test. */
  webhookAddress?: (url: string) => string;
}

/** `cut`: the connection is reset. `hang`: no answer until the client goes. `garbage`: a proxy's HTML page. */
export type Accident =
  | { status: number; retryAfter?: number; description?: string }
  | { slowMs: number }
  | "cut"
  | "hang"
  | "garbage";

export interface AccidentOptions {
  /** Default 1. */
  times?: number;
  /** Before the call had its effect (default), or after: the message is there, the answer is not. */
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
  /** 0: no answer (cut, or the client went away). */
  status: number;
}

/** A bot, and the people it talks to. Updates are queued for polling, or posted to the webhook. */
export interface FakeBot {
  readonly id: number;
  readonly username: string;
  readonly token: string;
  /** A message in a private chat (positive id) or a group (negative id; supergroup unless told). */
  userSays(chatId: number, text: string, says?: Says): { updateId: number | undefined; messageId: number };
  userEdits(chatId: number, messageId: number, text: string): number | undefined;
  /** The user takes back an own message, or removes one of the bot's. Bots are not told of it. */
  userDeletes(chatId: number, messageId: number): void;
  userSendsFile(chatId: number, name: string, bytes: Uint8Array, caption?: string, says?: Says): { messageId: number };
  /** From now on 403, until the user writes again. */
  userBlocks(chatId: number): void;
  /** A group becomes a supergroup, with another id. */
  groupUpgrades(chatId: number, to: number): void;
  /** Any other update. */
  pushes(kind: string, payload: unknown): Update | undefined;
  /** The same update once more. */
  repeats(updateId: number): void;
  /** Keeps new updates back; `release(true)` gives them out in reverse, all at once. */
  hold(): void;
  release(reverse?: boolean): void;
  /** What it sent, oldest first. */
  sent(chatId?: number): SentMessage[];
  drafts(chatId?: number): Draft[];
  actions(chatId?: number): { chatId: number; action: string; at: number }[];
  /** Updates that are neither confirmed nor taken by the webhook. */
  pending(): number;
  readonly polling: boolean;
  readonly webhook: { url: string; secret?: string; maxConnections: number } | undefined;
  readonly commands: object[];
}

export interface Telegram extends AsyncDisposable {
  /** What `CHANNEL_A_API_ROOT` takes. */
  readonly url: string;
  /** `username` may be left out; the id is the token's. Throws for a token that is none. */
  addBot(token: string, about?: { id?: number; username?: string }): FakeBot;
  bot(token: string): FakeBot;
  /** The token is nobody's from now on: 401. */
  revoke(token: string): void;
  /** The next calls of that method (`*`: of any) have an accident. */
  fail(method: string, accident: Accident, options?: AccidentOptions): void;
  set(options: Pick<TelegramOptions, "rates" | "drafts" | "latencyMs" | "down">): void;
  /** Every call but getUpdates, in order. */
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
  /** Posts that the webhook did not take. */
  refusedPosts: number;
  conflicts: number;
  tooMany: number;
  /** Calls that came while the platform was down. */
  turnedAway: number;
  /** When each bot polled or set its webhook for the first time since the platform was last down, or began; epoch ms. */
  returned: number[];
  calls: Record<string, number>;
}
