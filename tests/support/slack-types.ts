// The interface of the Slack fake: its apps, its people, and the failures that tests plan.
import type { SentFile } from "./sent-file.ts";

/** Methods of the Web API, and the other things that can fail. */
export type Route =
  | "auth.test"
  | "bots.info"
  | "users.info"
  | "apps.connections.open"
  | "chat.postMessage"
  | "chat.update"
  | "conversations.history"
  | "conversations.replies"
  | "assistant.threads.setStatus"
  | "files.info"
  | "files.getUploadURLExternal"
  | "files.completeUploadExternal"
  | "upload"
  | "download"
  | "unknown";

/** `cut`: the connection breaks. `hang`: no answer. `error`: `ok: false` with this code. */
export type Accident =
  | "cut"
  | "hang"
  | "garbage"
  | { slowMs: number }
  | { status: number; retryAfter?: number }
  | { error: string };

export interface AccidentOptions {
  times?: number;
  /** `after`: the call has its effect. */
  when?: "before" | "after";
  app?: string;
  channel?: string;
}

export interface Call {
  route: Route;
  app: string | undefined;
  channel: string | undefined;
  args: Readonly<Record<string, unknown>>;
  at: number;
  /** HTTP status; 0 if no answer arrived. */
  status: number;
  /** Slack's error. */
  error: string | undefined;
}

export interface Button {
  label: string;
  value: string;
}

/** A message of the bot. */
export interface Sent {
  /** `channel:timestamp`; of a file `channel:file`. */
  id: string;
  channel: string;
  ts: string;
  /** As people read it: unescaped, with Slack's marks. */
  text: string;
  /** As it was sent. */
  raw: string;
  thread: string | undefined;
  /** The texts before it was edited. */
  edits: string[];
  buttons: Button[];
  file?: SentFile;
}

export interface Says {
  /** The person; by default one that the conversation belongs to. */
  from?: string;
  /** Begins with a mention of the bot. */
  mention?: boolean;
  /** The timestamp of the message that the thread hangs on. */
  thread?: string;
  files?: readonly { name: string; type: string; bytes: Uint8Array; isVoice?: boolean }[];
  /** The text of another message that this one passes on. */
  shares?: string;
  /** Also sends `app_mention`, as to an app that subscribes to both events. */
  twice?: boolean;
}

export interface FakeApp {
  readonly id: string;
  readonly botUser: string;
  readonly team: string;
  /** The direct message with a person. */
  dm(user?: string): string;
  /** A channel that the bot is in. */
  channel(): string;
  person(user: string, about: { name?: string; locale?: string }): void;
  /** Returns `channel:timestamp`. */
  userSays(channel: string, text: string, says?: Says): string;
  userEdits(id: string, text: string): void;
  /** Of anybody. */
  userDeletes(id: string): void;
  userPresses(id: string, value: string, from?: string): void;
  /** Sends the event of a message again, in a new envelope. */
  repeats(id: string): void;
  /** Nobody can write there any more. */
  closes(channel: string): void;
  sent(channel?: string): Sent[];
  /** Each status that was set: the thread and the words. */
  statuses(channel?: string): { thread: string; status: string }[];
  readonly connected: number;
  /** Connections that were opened so far. */
  readonly opened: number;
  /** Envelopes that were not confirmed. */
  readonly unconfirmed: number;
  hold(): void;
  release(reverse?: boolean): void;
  /** Ends connections without a word. */
  drops(): void;
  /** Announces the end of all open connections, and closes them after this time. */
  warns(reason?: string, closeAfterMs?: number): void;
  /** Connections stay open, but nothing comes over them. */
  silent(): void;
  nextConnection(end: "cut"): void;
  /** Slack stops repeating what was not confirmed. */
  givesUp(): void;
  /** Any event, for this workspace or another one in which the app is installed. */
  sends(event: Record<string, unknown>, forTeam?: string): void;
}

export interface AppOptions {
  id?: string;
  username?: string;
  /** The id of the bot's own user. */
  botUser?: string;
  scopes?: readonly string[];
  team?: string;
}

export interface SlackStats {
  apps: number;
  connected: number;
  opened: number;
  sent: number;
  tooMany: number;
  turnedAway: number;
  /** Times of the apps' first returns after an outage. */
  returned: number[];
  calls: Record<string, number>;
}

export interface SlackOptions {
  port?: number;
  latencyMs?: number;
  /** Enforces Slack's limits. */
  rates?: boolean;
  /** Milliseconds until an unconfirmed envelope is sent again. */
  confirmMs?: number;
}

export interface Slack extends AsyncDisposable {
  /** The Web API. */
  readonly url: string;
  addApp(tokens: { botToken: string; appToken: string }, options?: AppOptions): FakeApp;
  app(botToken: string): FakeApp;
  revoke(token: string): void;
  fail(route: Route | "*", accident: Accident, options?: AccidentOptions): void;
  set(changes: { rates?: boolean; latencyMs?: number; down?: false | "cut" | "broken" }): void;
  readonly calls: readonly Call[];
  stats(): SlackStats;
  waitFor<T>(predicate: (slack: Slack) => T, timeoutMs?: number): Promise<NonNullable<T>>;
  stop(): Promise<void>;
}
