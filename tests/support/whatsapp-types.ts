// The types of the WhatsApp fake that tests use: options, accounts, planned failures.

import type { SentFile } from "./sent-file.ts";

export interface WhatsAppOptions {
  port?: number;
  /** Enforce the limits: 80 messages/s for a number, one in 6 s for a pair after 45 at once. Default: off. */
  rates?: boolean;
  /** Posts `sent` and `delivered` for each message. Default: on. */
  statuses?: boolean;
  /**
   * The whole platform is down from now on: every call gets a 5xx response, or its connection is
   * reset; messages of users wait.
   */
  down?: "broken" | "cut" | false;
  /** Require https for callbacks, as Meta does. Default: off. */
  https?: boolean;
  /** Duration of every call, half of it before its effect and half after. */
  latencyMs?: number;
  /** Delay before a webhook is posted again, doubled each time up to 64 times as much. Default: 50. */
  webhookRetryMs?: number;
  /** Default: 10 s. */
  webhookTimeoutMs?: number;
  /** Maps a callback's address to the one that is really used, for addresses that do not exist in a test. */
  webhookAddress?: (url: string) => string;
}

/** Kinds of calls; `messages` sends, `upload` takes a file to be sent, `read` shows typing. */
export const CALLS = [
  "debug_token",
  "phone_numbers",
  "subscribed_apps",
  "messages",
  "upload",
  "read",
  "media",
  "download",
] as const;
export type Kind = (typeof CALLS)[number];

/** `cut`: the connection is reset. `hang`: no response until the client disconnects. `garbage`: a proxy's HTML page. */
export type Accident = { status: number; code?: number } | { slowMs: number } | "cut" | "hang" | "garbage";

export interface AccidentOptions {
  /** Default 1. */
  times?: number;
  /** Before the call's effect (default), or after it: the message exists, but its response is lost. */
  when?: "before" | "after";
  /** Only calls with this token. */
  token?: string;
}

export interface GraphCall {
  kind: Kind | undefined;
  method: string;
  path: string;
  body: unknown;
  at: number;
  /** 0: no response (cut, or the client disconnected). */
  status: number;
}

export interface AccountAbout {
  waba: string;
  /** The app that minted the token. Default `9001`. */
  app?: string;
  /** Ids and displayed numbers. Default: one number. */
  numbers?: { id: string; display: string }[];
  /** Scopes the token was granted for the account. Default: messaging and management. */
  scopes?: string[];
  /** The grants of the token name no account. */
  withoutTargets?: boolean;
}

/** Options of a user's message. */
export interface Says {
  /** The user's number, as digits. Default: `15550001111`. */
  from?: string;
  name?: string;
  /** The person's business-scoped id. */
  userId?: string;
  /** The user is known by that id only, without a number. */
  hidden?: boolean;
  /** The number of the business that gets the message. Default: the first. */
  number?: string;
  /** Epoch seconds. */
  at?: number;
}

export interface SentMessage {
  id: string;
  /** The number that sent it. */
  number: string;
  /** Digits, or a business-scoped id. */
  to: string;
  text: string;
  replyTo?: string;
  callbackData?: string;
  previewUrl: boolean;
  file?: SentFile;
  /** Reply buttons below the text. */
  buttons?: { id: string; title: string }[];
  at: number;
  /** Whether the response reached the client, as far as the platform knows. */
  delivered: boolean;
}

export interface Subscription {
  app: string;
  callback: string | undefined;
}

/** A business account as its token sees it, and its users. */
export interface FakeAccount {
  readonly token: string;
  readonly waba: string;
  /** Sends a user's message; returns its id. */
  says(text: string, says?: Says): string;
  sendsFile(
    kind: "image" | "audio" | "video" | "document" | "sticker",
    bytes: Uint8Array,
    more?: { mime?: string; caption?: string; filename?: string; voice?: boolean } & Says,
  ): string;
  /** Sends any other message: its type and fields. */
  pushes(fields: Record<string, unknown>, says?: Says): string;
  edits(id: string, text: string): void;
  deletes(id: string): void;
  /** Sends the same post again. */
  repeats(id: string): void;
  /** Sends all messages of the callback in one post, in order. */
  batch(says: () => void): void;
  /** Holds new posts back; `release(true)` sends them in reverse order. */
  hold(): void;
  release(reverse?: boolean): void;
  /** Posts a status of a sent message. */
  reports(id: string, status: "sent" | "delivered" | "read" | "failed", code?: number): void;
  /** Accepts the next message, then reports its failure with this code. */
  failsLater(code: number): void;
  /** Messages to this user can't be delivered (131026) until the user writes again. */
  blocks(user?: string): void;
  /** The user's last message is older than 24 hours: `now` rejects messages at once, `later` by a status. */
  closesWindow(user?: string, when?: "now" | "later"): void;
  sent(user?: string): SentMessage[];
  typing(): { number: string; messageId: string; at: number }[];
  /** Number of users' messages that the callback has not accepted. */
  pending(): number;
  readonly subscriptions: Subscription[];
  /** With which the app's callback was subscribed. */
  verifyTokenOf(app: string): string | undefined;
}

export interface WhatsAppStats {
  accounts: number;
  sent: number;
  pending: number;
  posted: number;
  /** Number of posts that the callback rejected. */
  refusedPosts: number;
  tooMany: number;
  /** Number of calls while the platform was down. */
  turnedAway: number;
  /** When each account first called after the last outage (or the start), in epoch ms. */
  returned: number[];
  calls: Record<string, number>;
}

export interface WhatsApp extends AsyncDisposable {
  /** The value of `CHANNEL_C_API_ROOT`. */
  readonly url: string;
  /** Sets the secret that signs the app's posts. An app that was not added has a random one. */
  addApp(id: string, secret: string): void;
  addAccount(token: string, about: AccountAbout): FakeAccount;
  account(token: string): FakeAccount;
  /** Makes the token invalid: calls with it get 401, code 190. */
  revoke(token: string): void;
  /** Plans a failure of the next calls of a kind (`*`: any kind). */
  fail(kind: Kind | "*", accident: Accident, options?: AccidentOptions): void;
  set(options: Pick<WhatsAppOptions, "rates" | "statuses" | "latencyMs" | "down">): void;
  readonly calls: GraphCall[];
  stats(): WhatsAppStats;
  waitFor<T>(predicate: (whatsapp: WhatsApp) => T, timeoutMs?: number): Promise<NonNullable<T>>;
  stop(): Promise<void>;
}
