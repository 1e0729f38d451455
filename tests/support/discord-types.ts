// The types of the Discord fake that tests use: options, bots, planned failures, and Discord's objects as far as needed.

import type { ActionRow } from "./discord-components.ts";
import type { SentFile } from "./sent-file.ts";

export interface DiscordOptions {
  port?: number;
  /** Enforce rate limits and send their headers: 5 messages per channel in 5 s, 50 calls per bot in 1 s. Default: off. */
  rates?: boolean;
  /** Heartbeat interval of HELLO in milliseconds. Default: 41,250, as Discord's. */
  heartbeatMs?: number;
  /** One IDENTIFY per bot within this time; a second one is an invalid session. Default: 5,000. */
  identifyMs?: number;
  /** Number of sessions that a bot may still start. Default: 1,000. */
  identifiesLeft?: number;
  /** Interactions must be acknowledged within this time. Default: 3,000. */
  acknowledgeMs?: number;
  /**
   * The whole platform is down from now on: every call gets a 5xx response, or its connection is
   * reset, and every gateway connection is closed; messages of users wait.
   */
  down?: "broken" | "cut" | false;
  /** Duration of every REST call, half of it before its effect and half after. */
  latencyMs?: number;
}

/** `cut`: the connection is reset. `hang`: no response until the client disconnects. `garbage`: a proxy's HTML page. */
export type Accident =
  | { status: number; retryAfter?: number; global?: boolean; code?: number; message?: string }
  | { slowMs: number }
  | "cut"
  | "hang"
  | "garbage";

/** The names of calls in `fail` and `calls`. */
export type Route =
  | "me"
  | "application"
  | "gateway"
  | "openDm"
  | "getMessage"
  | "listMessages"
  | "createMessage"
  | "editMessage"
  | "deleteMessage"
  | "typing"
  | "putCommands"
  | "roles"
  | "acknowledge"
  | "getOriginal"
  | "editOriginal"
  | "deleteOriginal"
  | "followUp"
  | "file";

export interface AccidentOptions {
  /** Default 1. */
  times?: number;
  /** Before the call's effect (default), or after it: the message exists, but its response is lost. */
  when?: "before" | "after";
  botId?: string;
  channelId?: string;
}

export interface RestCall {
  route: Route | "unknown";
  botId: string | undefined;
  channelId: string | undefined;
  body: unknown;
  at: number;
  /** 0: no response arrived. */
  status: number;
}

export interface User {
  id: string;
  username: string;
  global_name: string | null;
  discriminator: "0";
  avatar: null;
  bot?: true;
}

export interface FileObject {
  id: string;
  filename: string;
  content_type?: string;
  size: number;
  url: string;
  proxy_url: string;
}

export interface Message {
  id: string;
  channel_id: string;
  guild_id?: string;
  author: User;
  content: string;
  timestamp: string;
  edited_timestamp: string | null;
  tts: false;
  mention_everyone: boolean;
  mentions: User[];
  mention_roles: string[];
  attachments: FileObject[];
  embeds: never[];
  components: ActionRow[];
  pinned: false;
  type: number;
  flags: number;
  nonce?: string | number;
  message_reference?: { message_id: string; channel_id: string };
  referenced_message?: Omit<Message, "referenced_message"> | null;
}

export interface ShownButton {
  label: string;
  customId: string;
}

/** A message of the bot in its current form. Times are epoch ms. */
export interface SentMessage {
  id: string;
  channelId: string;
  text: string;
  replyTo?: string;
  flags: number;
  at: number;
  /** Changes of the text. */
  edits: { text: string; at: number }[];
  /** The buttons that it shows now. */
  buttons: ShownButton[];
  files: SentFile[];
  /** The interaction that this message answers or follows. */
  interaction?: string;
  /** Shown as "… is thinking": deferred, still without content. */
  thinking: boolean;
}

export interface Says {
  /** Id of the user. Default: "7001". */
  from?: string;
  name?: string;
  isBot?: boolean;
  /** Mentions the bot at the start of the text. */
  mention?: boolean;
  /** Mentions the bot's own role. */
  mentionRole?: boolean;
  /** Names, by id, of the users that the text mentions as `<@id>`. */
  naming?: Record<string, string>;
  replyTo?: string;
  files?: { name: string; type?: string; bytes: Uint8Array }[];
  /** The only file was recorded in the client. */
  isVoice?: boolean;
}

export interface FakeBot {
  readonly id: string;
  readonly username: string;
  readonly token: string;
  readonly applicationId: string;
  /** The bot's managed role in every guild. */
  readonly roleId: string;
  /** The direct message channel of a user and the bot. */
  dm(userId?: string): string;
  /** A channel or thread of a guild. */
  channel(guildId?: string): string;
  userSays(channelId: string, text: string, says?: Says): string;
  userEdits(messageId: string, text: string): void;
  userDeletes(messageId: string): void;
  /** Runs a slash command; returns the interaction's id. */
  userCommands(channelId: string, name: string, options?: Record<string, string>, from?: string): string;
  /** Presses a button that a message of the bot shows; returns the interaction's id. */
  userPresses(messageId: string, customId: string, from?: string): string;
  /** Delivers the message a second time. */
  repeats(messageId: string): void;
  /** The user blocks the bot's messages, or the bot is removed from the channel. */
  closes(channelId: string): void;
  sent(channelId?: string): SentMessage[];
  /** Times of "… is typing". */
  typing(channelId?: string): number[];
  /** Holds events until `release`, which sends them in their order or in reverse. */
  hold(): void;
  release(reverse: boolean): void;
  /** Expires the files' addresses at the CDN; the messages get new ones. */
  filesExpire(): void;
  readonly commands: { name: string; description: string }[];
  readonly identifies: number;
  readonly resumes: number;
  /** Number of open connections that got READY or RESUMED. */
  readonly connected: number;
  /** Sequence number of the last event. */
  readonly sequence: number;
  /** Sequence number of the latest event about this message or interaction. */
  sequenceOf(id: string): number;
  /** Closes all connections with this code, or without one (as a network failure does). */
  drops(code?: number): void;
  /** Sends opcode 7 (reconnect). */
  reconnects(): void;
  /** Sends opcode 9 (invalid session); a session that is not resumable is deleted. */
  invalidates(resumable: boolean): void;
  /** Deletes every session, as Discord does after a long time. */
  forgets(): void;
  /** Sends nothing, not even heartbeat ACKs, until the next connection. */
  silent(): void;
  /** Ends the next connection after its IDENTIFY or RESUME: by a reset, or with a close code. */
  nextConnection(fate: "cut" | number): void;
}

export interface DiscordStats {
  bots: number;
  connected: number;
  identifies: number;
  resumes: number;
  /** Connections that a bot began while it had another one. */
  overlaps: number;
  sent: number;
  /** Number of 429 responses. */
  tooMany: number;
  /** Number of calls while the platform was down. */
  turnedAway: number;
  /** When each bot first identified at the gateway after the last outage (or the start), in epoch ms. */
  returned: number[];
  calls: Record<string, number>;
}

export interface BotOptions {
  id?: string;
  username?: string;
  /** Whether the bot may use the message content intent. Default: true. */
  messageContent?: boolean;
}

export interface Discord extends AsyncDisposable {
  /** The value of `CHANNEL_B_API_ROOT`. */
  readonly url: string;
  addBot(token: string, options?: BotOptions): FakeBot;
  bot(token: string): FakeBot;
  revoke(token: string): void;
  /** The token of an interaction, as in its event. */
  tokenOf(interactionId: string): string;
  fail(route: Route | "*", accident: Accident, options?: AccidentOptions): void;
  set(changes: Pick<DiscordOptions, "rates" | "latencyMs" | "identifiesLeft" | "down">): void;
  /** All REST calls so far. */
  readonly calls: RestCall[];
  stats(): DiscordStats;
  waitFor<T>(predicate: (discord: Discord) => T, timeoutMs?: number): Promise<NonNullable<T>>;
  stop(): Promise<void>;
}
