// The port that every channel's adapter implements: stateless verbs over a binding, so that an idle bot costs nothing.
// Adapters live in this folder, with the registry that lists them; plugins/channels hosts the bots.

/**
 * The neutral name of a channel. `isChannelId` of the registry checks at run time whether there is one of that name.
 */
export type ChannelId = `channel_${string}`;

/** The bot that a token belongs to, as the platform reports it. */
export interface BotIdentity {
  /** The platform's id of the bot; no two agents of this host may have the same. */
  id: string;
  /** The handle that people see, without `@`. */
  username: string;
  /** The name that its owner gave it on the platform, if the platform reports one; shown when a token is checked. */
  name?: string;
  /** Other facts that the adapter needs later, in its own form and without the token; stored with the connection. */
  detail?: string;
}

/** One agent's bot, with everything an adapter needs for a verb. */
export interface Binding {
  agentId: string;
  /** On channels with several `credentials`, their text (`shared/credential-text.ts`). */
  token: string;
  bot: BotIdentity;
  /** The last value given to `Sink.saveResumePoint`; left out when there is none. */
  resume?: string;
}

/** The beginning of an id of a sender whom no trusted server has checked, so that it never equals the id of a checked one. */
export const UNPROVEN = "unproven:";

/** One message from a platform. */
export interface IncomingMessage {
  /** The platform's id of the message, unique per bot; a second delivery is recognised by it. */
  platformMessageId: string;
  /** The address of the conversation in the adapter's own form: a chat, with its topic or thread if it has one. */
  peer: string;
  /** The author. `id` is the platform's id, never a name, which its owner could change. */
  sender: {
    id: string;
    name: string;
    /**
     * A second id that the platform guarantees and people know, such as the phone number. Access lists may name either.
     */
    alternateId?: string;
    /** No trusted server has checked who this is, so this sender is never an owner. The id begins with `UNPROVEN`. */
    isUnproven?: true;
  };
  /** The sender's language as the platform names it, such as `de` or `pt-br`; left out where it does not. */
  language?: string;
  text: string;
  /** Somebody other than the sender wrote a part of the text, or made a file: it is forwarded or quoted. */
  quotesOthers?: true;
  /** The message's files, in order; `text` also names each one, in brackets on its own line. */
  attachments?: Attachment[];
  /**
   * The platform's id of the message that this one replies to, on platforms that pass only the id. Other platforms pass the whole
   * message: there `attachments` has its files if this message has none.
   */
  repliesTo?: string;
  /** More than two people can read it. */
  group: boolean;
  /** In a group: the message mentions the bot or replies to it. Always true in private. */
  addressed: boolean;
  /** Epoch ms, by the platform's clock. */
  sentAt: number;
}

/** A file of a message. It stays at the platform until a turn fetches it. */
export interface Attachment {
  kind: "image" | "audio" | "video" | "document";
  /** The reference that `fetchFile` takes, in the adapter's own form; never contains a token. */
  ref: string;
  /** As the platform reports it, unchecked. */
  mimeType: string;
  /** Bytes, if the platform reports them. */
  size?: number;
  name?: string;
  /** The message is complete without it, so the sender gets no notice when the model can't read it. */
  optional?: true;
  /** A voice message: the sender's own words, unless the message is forwarded or quotes somebody. */
  voice?: true;
}

/** Receives the events of one connection; `plugins/channels/access/message-intake.ts` implements it. */
export interface Sink {
  /** Resolves when the messages are stored. Confirm them to the platform only then. */
  accept(messages: IncomingMessage[]): Promise<void>;
  /**
   * Reports that the connection works: a poll was answered, a gateway is ready, a heartbeat arrived. May be called
   * often.
   */
  reportAlive(): void;
  /**
   * Stores where receiving can resume; the next `listen` gets it as `Binding.resume`, also after a restart. May be
   * called often.
   */
  saveResumePoint(resume: string): void;
  /**
   * Whether the outcomes of these sends are stored; waits briefly for sends under way. If false, do not acknowledge the
   * webhook with their statuses, so that the platform repeats it: a crash now would lose them.
   */
  areDeliveriesRecorded?(messageIds: string[]): Promise<boolean>;
  /**
   * Whether the sender of a stored message may answer the agent's questions: the buttons stay when somebody else presses one.
   * Left out: everybody may.
   */
  mayAnswer?(message: IncomingMessage): Promise<boolean>;
  /** Reports that parts of sent replies did not reach their readers. The owner gets one notice for each reply. */
  reportUndelivered(failures: DeliveryFailure[]): Promise<void>;
  /** Charges unsigned webhook posts to the bot's rate limit; each costs as much as several signed ones. */
  countUnsignedPosts?(posts: number): void;
}

export interface DeliveryFailure {
  /** `OutgoingMessage.id`. */
  message: string;
  peer: string;
  /** The platform's id of the part. */
  part: string;
  /** A sentence that may be shown to the agent's owner. */
  reason: string;
}

/** An answer that a message offers. Choosing it counts as a message of that text by the person who chose it. */
export interface Choice {
  /** At most 20 characters. */
  label: string;
  /** At most 64 bytes. */
  text: string;
}

/** How a file is shown: `voice` is spoken words, for which platforms have messages of their own. */
export type FileKind = "picture" | "audio" | "voice" | "document";

/** A file of a reply, which is sent as a message of its own after the text. */
export interface OutgoingFile {
  kind: FileKind;
  name: string;
  mimeType: string;
  /** Bytes. */
  size: number;
  /** The text below it. */
  caption?: string;
  /** What is said in it: sent as a text if the platform does not take the file. */
  words?: string;
  /** Where its reader finds it if the platform does not take it. */
  address?: string;
  /** A sentence about it, made in English, in the language of its reader. */
  inReadersLanguage(english: string): string;
  /** Calls `use` with its bytes, or with undefined if it was deleted; they count as memory until `use` has ended. */
  withBytes<T>(use: (bytes: Uint8Array<ArrayBuffer> | undefined) => Promise<T>): Promise<T>;
}

/** A reply to send. */
export interface OutgoingMessage {
  /** The same for every retry; the idempotency key where the platform has one. */
  id: string;
  peer: string;
  /** Empty for a reply of files alone. */
  text: string;
  /**
   * Each is one part, after those of the text. A file that the platform does not take becomes a text that says so
   * (`shared/sent-files.ts`): the reply itself never fails for it.
   */
  files?: readonly OutgoingFile[];
  /** The platform's id of the message that this answers. */
  replyTo?: string;
  /** Earlier tries, whose effects may be unknown. */
  attempts: number;
  /** Ids of the parts that earlier tries delivered, in order; they are not sent again. */
  deliveredParts: string[];
  /** The preview message that can be edited into the reply. */
  previewMessageId?: string;
  /** At most three. An adapter that can't show them below this text adds them to it (`shared/written-choices.ts`). */
  choices?: readonly Choice[];
}

/** A reply that is still being written, for the adapter to show. */
export interface Preview {
  /** Non-zero, stable for one reply. */
  draftId: number;
  peer: string;
  group: boolean;
  /** The text so far. */
  text: string;
  /** Set once the preview is a message, which is edited from then on. */
  messageId?: string;
  /**
   * The platform's id of the message that this answers; a preview that becomes the reply must refer to it from the
   * start.
   */
  replyTo?: string;
}

/** Records the bytes of a call, or of a received message, for the agent whose bot it concerns. */
export type RecordTraffic = (agentId: string, sent: number, received: number) => void;

/** The public address that a platform posts to. */
export interface WebhookTarget {
  url: string;
  /** 1 to 256 of `[A-Za-z0-9_-]`. */
  secret: string;
}

/**
 * One messaging platform. Every verb throws `ChannelError`, and nothing else, when the platform refuses or fails.
 *
 * @example
 * const bot = await telegram.identify(token, signal);
 * await telegram.listener?.listen({ agentId, token, bot }, sink, signal); // until the signal aborts
 */
export interface ChannelAdapter {
  /** Receives over a connection that Berth holds. A channel has this, `webhook`, or both. */
  readonly listener?: ConnectionListener;
  /** Receives the platform's posts. */
  readonly webhook?: WebhookReceiver;
  /** Asks the platform which bot this token belongs to; `refused` if it belongs to none. */
  identify(token: string, signal: AbortSignal): Promise<BotIdentity>;
  /**
   * Sends one reply, in parts if it is too long. Calls `onPartDelivered` with each part's platform id as soon as it is
   * known.
   */
  send(
    binding: Binding,
    message: OutgoingMessage,
    onPartDelivered: (part: string) => void,
    signal: AbortSignal,
  ): Promise<void>;
  /**
   * Shows a growing reply; returns the id of the message that it edits, or undefined if the preview is not a message.
   * Without this verb the model is not asked to stream.
   */
  preview?(binding: Binding, preview: Preview, signal: AbortSignal): Promise<string | undefined>;
  /** Shows that a reply is being written. `replyTo`: the platform's id of the message that it answers, if known. */
  typing(binding: Binding, peer: string, signal: AbortSignal, replyTo?: string): Promise<void>;
  /**
   * Fetches the bytes of an attachment, and never reads more than `limit`. `refused` if it is gone or larger.
   */
  fetchFile(binding: Binding, attachment: Attachment, limit: number, signal: AbortSignal): Promise<Uint8Array>;
  /** Drops the state in memory of this bot: clients and rate limits. */
  forget(binding: Binding): void;
}

/** Receives over a long poll or a gateway. */
export interface ConnectionListener {
  /** Receives until `signal` aborts; then it returns. */
  listen(binding: Binding, sink: Sink, signal: AbortSignal): Promise<void>;
}

/** Receives posts of the platform at a public address. */
export interface WebhookReceiver {
  /** Makes the platform post to `target` from now on. */
  register(binding: Binding, target: WebhookTarget, signal: AbortSignal): Promise<void>;
  /** Reverts `register`. */
  unregister(binding: Binding, signal: AbortSignal): Promise<void>;
  /**
   * Handles one request of the platform: GET to verify an address, POST for messages. Checks `secret` or the signature
   * before the body is parsed, and answers 200 only once the messages are stored.
   */
  receive(binding: Binding, secret: string, request: Request, sink: Sink): Promise<Response>;
}

/**
 * - `refused`: the platform refused for good (bad token, bot removed, chat gone); do not retry.
 * - `conflict`: another receiver uses this token.
 * - `busy`: the platform asks to retry after `retryAfter`.
 * - `unreachable`: it is unknown whether the call arrived; retry.
 */
export type ChannelErrorKind = "refused" | "conflict" | "busy" | "unreachable";

/** A failure of a platform. The message is a sentence for the agent's owner and never contains a token. */
export class ChannelError extends Error {
  override readonly name = "ChannelError";

  constructor(
    readonly kind: ChannelErrorKind,
    message: string,
    /** Whether it concerns the whole bot or this conversation only. */
    readonly scope: "bot" | "peer",
    /** Milliseconds, with `busy`. */
    readonly retryAfter?: number,
    options?: { cause?: unknown; field?: string },
  ) {
    super(message, options);
    this.field = options?.field;
  }

  /** The `CredentialField` that the platform refused, where `identify` knows it. */
  readonly field: string | undefined;
}
