// What tests see of the Discord fake: its options, its bots, the accidents it can have, and Discord's objects as far as they matter.

export interface DiscordOptions {
  port?: number;
  /** Enforce the limits that headers tell of: 5 messages per channel in 5 s, 50 calls per bot in 1 s. Default: off. */
  rates?: boolean;
  /** Milliseconds between heartbeats that HELLO asks for. Default 41,250, as Discord's. */
  heartbeatMs?: number;
  /** One IDENTIFY per bot within this time; another is an invalid session. Default 5,000. */
  identifyMs?: number;
  /** Sessions a bot may still begin. Default 1,000. */
  identifiesLeft?: number;
  /** Interactions must be acknowledged within this time. Default 3,000. */
  acknowledgeMs?: number;
  /**
   * The whole platform is away for what is called from now on: every call is answered with 5xx, or its connection is
   * reset, and nobody stays at the gateway; what people write waits.
   */
  down?: "broken" | "cut" | false;
  /** Every REST call takes this long, half before its effect and half after. */
  latencyMs?: number;
}

/** `cut`: the connection is reset. `hang`: no answer until the client goes. `garbage`: a proxy's HTML page. */
export type Accident =
  | { status: number; retryAfter?: number; global?: boolean; code?: number; message?: string }
  | { slowMs: number }
  | "cut"
  | "hang"
  | "garbage";

/** What calls are named in `fail` and `calls`; `*` is any of them. */
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
  /** Before the call had its effect (default), or after: the message is there, the answer is not. */
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
  /** 0: the answer never arrived. */
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
  pinned: false;
  type: number;
  flags: number;
  nonce?: string | number;
  message_reference?: { message_id: string; channel_id: string };
  referenced_message?: Omit<Message, "referenced_message"> | null;
}

/** A message of the bot, as its channel shows it now. Times are epoch ms. */
export interface SentMessage {
  id: string;
  channelId: string;
  text: string;
  replyTo?: string;
  flags: number;
  at: number;
  edits: { text: string; at: number }[];
  /** It is the answer to an interaction, or follows one. */
  interaction?: string;
  /** "… is thinking": deferred, and nothing said yet. */
  thinking: boolean;
}

export interface Says {
  /** Default: user "7001". */
  from?: string;
  name?: string;
  isBot?: boolean;
  /** Names the bot at the start of the text. */
  mention?: boolean;
  /** Names the bot's own role. */
  mentionRole?: boolean;
  /** Users named as `<@id>` in the text, whose names come along. */
  naming?: Record<string, string>;
  replyTo?: string;
  files?: { name: string; type?: string; bytes: Uint8Array }[];
}

export interface FakeBot {
  readonly id: string;
  readonly username: string;
  readonly token: string;
  readonly applicationId: string;
  /** The role that came with the bot into every guild. */
  readonly roleId: string;
  /** The channel of a user and the bot. */
  dm(userId?: string): string;
  /** A channel of a guild, or a thread in one. */
  channel(guildId?: string): string;
  userSays(channelId: string, text: string, says?: Says): string;
  userEdits(messageId: string, text: string): void;
  userDeletes(messageId: string): void;
  /** A slash command; answers with the interaction's id. */
  userCommands(channelId: string, name: string, options?: Record<string, string>, from?: string): string;
  /** The message comes again. */
  repeats(messageId: string): void;
  /** The user takes no more messages of the bot, or the bot was taken out of the channel. */
  closes(channelId: string): void;
  sent(channelId?: string): SentMessage[];
  /** Times of "… is typing". */
  typing(channelId?: string): number[];
  /** Events wait until they are released, in their order or the other way round. */
  hold(): void;
  release(reverse: boolean): void;
  /** Files at the CDN expire: their old addresses are nobody's, the message has new ones. */
  filesExpire(): void;
  readonly commands: { name: string; description: string }[];
  readonly identifies: number;
  readonly resumes: number;
  /** Connections that are open and ready. */
  readonly connected: number;
  /** Sequence number of the last event. */
  readonly sequence: number;
  /** Sequence number an event about this message or interaction had last. */
  sequenceOf(id: string): number;
  /** Closes all connections: with that code, or without one (as a network does). */
  drops(code?: number): void;
  /** Opcode 7. */
  reconnects(): void;
  /** Opcode 9; not resumable: the session is gone. */
  invalidates(resumable: boolean): void;
  /** Every session is gone, as after a long time. */
  forgets(): void;
  /** Says nothing any more, not even to heartbeats, until the next connection. */
  silent(): void;
  /** What happens to the next connection once it said who it is. */
  nextConnection(fate: "cut" | number): void;
}

export interface DiscordStats {
  bots: number;
  connected: number;
  identifies: number;
  resumes: number;
  sent: number;
  /** Answers 429. */
  tooMany: number;
  /** Calls that came while the platform was down. */
  turnedAway: number;
  /** When each bot said who it is at the gateway for the first time since the platform was last down, or began; epoch ms. */
  returned: number[];
  calls: Record<string, number>;
}

export interface BotOptions {
  id?: string;
  username?: string;
  /** May ask for the content of every message. Default: true. */
  messageContent?: boolean;
}

export interface Discord extends AsyncDisposable {
  /** What `CHANNEL_B_API_ROOT` is set to. */
  readonly url: string;
  addBot(token: string, options?: BotOptions): FakeBot;
  bot(token: string): FakeBot;
  revoke(token: string): void;
  /** The token of an interaction, as its event tells it. */
  tokenOf(interactionId: string): string;
  fail(route: Route | "*", accident: Accident, options?: AccidentOptions): void;
  set(changes: Pick<DiscordOptions, "rates" | "latencyMs" | "identifiesLeft" | "down">): void;
  /** Every REST call so far. */
  readonly calls: RestCall[];
  stats(): DiscordStats;
  waitFor<T>(predicate: (discord: Discord) => T, timeoutMs?: number): Promise<NonNullable<T>>;
  stop(): Promise<void>;
}
