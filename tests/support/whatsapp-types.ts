// What tests see of the WhatsApp fake: its options, its accounts, the accidents it can have.

export interface WhatsAppOptions {
  port?: number;
  /** Enforce the limits: 80 messages/s for a number, one in 6 s for a pair after 45 at once. Default: off. */
  rates?: boolean;
  /** Posts `sent` and `delivered` for each message. Default: on. */
  statuses?: boolean;
  /**
   * The whole platform is away for what is called from now on: every call is answered with 5xx, or its connection is
   * reset; what people write waits.
   */
  down?: "broken" | "cut" | false;
  /** Callbacks have to be https, as they do in reality. Default: off. */
  https?: boolean;
  /** Every call takes this long, half before its effect and half after. */
  latencyMs?: number;
  /** Before something is posted again; doubled each time, up to 64 times as much. Default 50. */
  webhookRetryMs?: number;
  /** Default 10 s. */
  webhookTimeoutMs?: number;
  /** Where posts for this address really go, for addresses that lead nowhere in a test. */
  webhookAddress?: (url: string) => string;
}

/** Kinds of calls; `messages` sends, `read` shows typing. */
export const CALLS = [
  "debug_token",
  "phone_numbers",
  "subscribed_apps",
  "messages",
  "read",
  "media",
  "download",
] as const;
export type Kind = (typeof CALLS)[number];

/** `cut`: the connection is reset. `hang`: no answer until the client goes. `garbage`: a proxy's HTML page. */
export type Accident = { status: number; code?: number } | { slowMs: number } | "cut" | "hang" | "garbage";

export interface AccidentOptions {
  /** Default 1. */
  times?: number;
  /** Before the call had its effect (default), or after: the message is there, the answer is not. */
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
  /** 0: no answer (cut, or the client went away). */
  status: number;
}

export interface AccountAbout {
  waba: string;
  /** The app that minted the token. Default `9001`. */
  app?: string;
  /** Default: one number. Ids and what people see. */
  numbers?: { id: string; display: string }[];
  /** Scopes the token was granted for the account. Default: messaging and management. */
  scopes?: string[];
  /** Grants name no account. */
  withoutTargets?: boolean;
}

/** How somebody says something. */
export interface Says {
  /** Digits. Default `15550001111`. */
  from?: string;
  name?: string;
  /** The person's business-scoped id. */
  userId?: string;
  /** The person is known by that id alone. */
  hidden?: boolean;
  /** The number of the business it is said to. Default: the first. */
  number?: string;
  /** Epoch seconds. */
  at?: number;
}

export interface SentMessage {
  id: string;
  /** The number it came from. */
  number: string;
  /** Digits, or a business-scoped id. */
  to: string;
  text: string;
  replyTo?: string;
  callbackData?: string;
  previewUrl: boolean;
  at: number;
  /** The answer reached the client, as far as the platform knows. */
  delivered: boolean;
}

export interface Subscription {
  app: string;
  callback: string | undefined;
}

/** A business account as a token sees it, and the people who write to it. */
export interface FakeAccount {
  readonly token: string;
  readonly waba: string;
  /** Answers the id of the message. */
  says(text: string, says?: Says): string;
  sendsFile(
    kind: "image" | "audio" | "video" | "document" | "sticker",
    bytes: Uint8Array,
    more?: { mime?: string; caption?: string; filename?: string; voice?: boolean } & Says,
  ): string;
  /** Any other message: its type and what belongs to it. */
  pushes(fields: Record<string, unknown>, says?: Says): string;
  edits(id: string, text: string): void;
  deletes(id: string): void;
  /** The same post once more. */
  repeats(id: string): void;
  /** Several at once in one post, in this order. */
  batch(says: () => void): void;
  /** Keeps new posts back; `release(true)` gives them out in reverse. */
  hold(): void;
  release(reverse?: boolean): void;
  /** Posts a status of a message that was sent. */
  reports(id: string, status: "sent" | "delivered" | "read" | "failed", code?: number): void;
  /** The next message is taken, and fails afterwards with this code. */
  failsLater(code: number): void;
  /** From now on messages to them can't be delivered (131026), until they write again. */
  blocks(user?: string): void;
  /** They wrote more than 24 hours ago: `now` refuses at once, `later` by a status. */
  closesWindow(user?: string, when?: "now" | "later"): void;
  sent(user?: string): SentMessage[];
  typing(): { number: string; messageId: string; at: number }[];
  /** Messages of people that the callback has not taken. */
  pending(): number;
  readonly subscriptions: Subscription[];
}

export interface WhatsAppStats {
  accounts: number;
  sent: number;
  pending: number;
  posted: number;
  /** Posts that the callback did not take. */
  refusedPosts: number;
  tooMany: number;
  /** Calls that came while the platform was down. */
  turnedAway: number;
  /** When each bot called for the first time since the platform was last down, or began; epoch ms. */
  returned: number[];
  calls: Record<string, number>;
}

export interface WhatsApp extends AsyncDisposable {
  /** What `CHANNEL_C_API_ROOT` takes. */
  readonly url: string;
  /** Secrets sign what is posted for the app; an app that is not added has one that nobody knows. */
  addApp(id: string, secret: string): void;
  addAccount(token: string, about: AccountAbout): FakeAccount;
  account(token: string): FakeAccount;
  /** The token is nobody's from now on: 401, code 190. */
  revoke(token: string): void;
  /** The next calls of that kind (`*`: of any) have an accident. */
  fail(kind: Kind | "*", accident: Accident, options?: AccidentOptions): void;
  set(options: Pick<WhatsAppOptions, "rates" | "statuses" | "latencyMs" | "down">): void;
  readonly calls: GraphCall[];
  stats(): WhatsAppStats;
  waitFor<T>(predicate: (whatsapp: WhatsApp) => T, timeoutMs?: number): Promise<NonNullable<T>>;
  stop(): Promise<void>;
}
