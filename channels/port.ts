// The port every messaging channel implements: stateless verbs over a binding, so that a bot that has nothing to do costs nothing.

export type ChannelId = "channel_a" | "channel_b" | "channel_c";

/** Who a token belongs to on its platform, as the platform says. */
export interface BotIdentity {
  /** The platform's own id of the bot; unique over all agents of this host. */
  id: string;
  /** The handle people see, without decoration. */
  username: string;
  /** What else the platform said that the adapter needs later, in its own form, and without the token; kept with the connection. */
  detail?: string;
}

/** One agent's bot: what an adapter needs for every verb. */
export interface Binding {
  agentId: string;
  token: string;
  bot: BotIdentity;
  /** What `Sink.saveResumePoint` was told last; left out when there is nothing to go on from. */
  resume?: string;
}

/** One message as it came from a platform. */
export interface IncomingMessage {
  /** The platform's id of the message, unique per bot: with it, a second delivery is recognised. */
  platformMessageId: string;
  /** The address of the conversation, in the adapter's own form (chat, and topic or thread where there is one). */
  peer: string;
  /** Numeric or opaque platform id of the author, never a name that can be changed. */
  sender: {
    id: string;
    name: string;
    /** Another id the platform vouches for, and people know: the phone number. Lists of who may talk may name either. */
    alternateId?: string;
  };
  text: string;
  /** Files that came with it, in order; `text` names them too, each on a line of its own in brackets. */
  attachments?: Attachment[];
  /** More than two people can read it. */
  group: boolean;
  /** In a group: the bot was named or answered to. Always true in private. */
  addressed: boolean;
  /** Epoch ms, as the platform says. */
  sentAt: number;
}

/** A file that came with a message. It stays at the platform until a turn wants it. */
export interface Attachment {
  kind: "image" | "audio" | "video" | "document";
  /** What `fetchFile` needs to get it, in the adapter's own form; never with a token in it. */
  ref: string;
  /** As the platform says; checked by nobody. */
  mimeType: string;
  /** Bytes, where the platform tells. */
  size?: number;
  name?: string;
  /** The message says enough without it: nobody is told when a model can't be shown it. */
  optional?: true;
}

/** Receives the events of one connection; `plugins/channels/access/message-intake.ts` implements it. */
export interface Sink {
  /** Resolves when the messages are stored. Only then may the platform be told that they arrived. */
  accept(messages: IncomingMessage[]): Promise<void>;
  /** The connection works (a poll was answered, a gateway is ready or its heartbeat was heard). May be called often. */
  reportAlive(): void;
  /** Keeps where receiving was, so that `Binding.resume` tells it to the next `listen`, after a restart too. May be called often. */
  saveResumePoint(resume: string): void;
  /**
   * Whether what is known of these replies' delivery is stored; waits a moment for sends under way. False: what the platform
   * tells of them has to be told again, since a kill now would forget it.
   */
  areDeliveriesRecorded?(messageIds: string[]): Promise<boolean>;
  /** Parts of replies that were sent before did not reach their readers after all. Told once for each reply of the agent's, whoever says it. */
  reportUndelivered(failures: DeliveryFailure[]): Promise<void>;
  /** A post came whose sender its address alone proves, as much as so many ordinary ones: it counts for more than others. */
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

/** A reply on its way out. */
export interface OutgoingMessage {
  /** Stable over retries; used as the idempotency key where the platform has one. */
  id: string;
  peer: string;
  text: string;
  /** Platform message id that this answers. */
  replyTo?: string;
  /** Tries before this one, whose effects may be unknown. */
  attempts: number;
  /** Ids of parts already delivered by an earlier try, in order; they are not sent again. */
  deliveredParts: string[];
  /** A preview that was shown while the reply grew and can be turned into the reply. */
  previewMessageId?: string;
}

/** What the adapter shows while a reply grows. */
export interface Preview {
  /** Non-zero, stable for one reply. */
  draftId: number;
  peer: string;
  group: boolean;
  /** The text so far. */
  text: string;
  /** Set once the preview became a message of its own that is edited from then on. */
  messageId?: string;
  /** Platform message id that this answers: a preview that becomes the reply has to be tied to it from the start. */
  replyTo?: string;
}

/** The public address a platform posts to. */
export interface WebhookTarget {
  url: string;
  /** 1 to 256 of `[A-Za-z0-9_-]`. */
  secret: string;
}

/**
 * One messaging platform. Every verb throws `ChannelError`, and nothing else, for what goes wrong on the way or there.
 *
 * @example
 * const bot = await telegram.identify(token, signal);
 * await telegram.listening?.listen({ agentId, token, bot }, sink, signal); // until the signal aborts
 */
export interface ChannelAdapter {
  readonly id: ChannelId;
  /** Receives by a connection of its own, where the platform has that. */
  readonly listener?: ConnectionListener;
  /** Receives what the platform posts, where it does. A channel has one of the two, or both. */
  readonly webhook?: WebhookReceiver;
  /** Asks the platform whose token this is. `refused` when it is nobody's. */
  identify(token: string, signal: AbortSignal): Promise<BotIdentity>;
  /** Sends one reply, split where it is too long. `onPartDelivered` is called with each part's platform id as soon as it is known. */
  send(
    binding: Binding,
    message: OutgoingMessage,
    onPartDelivered: (part: string) => void,
    signal: AbortSignal,
  ): Promise<void>;
  /**
   * Shows a growing reply; returns the id of the message it edits, or undefined where the preview is not a message. Left
   * out by a platform that has no such thing: there the model isn't asked to stream.
   */
  preview?(binding: Binding, preview: Preview, signal: AbortSignal): Promise<string | undefined>;
  /** Shows that an answer is being written. `replyTo`: the platform's id of the message that is answered, where known. */
  typing(binding: Binding, peer: string, signal: AbortSignal, replyTo?: string): Promise<void>;
  /**
   * The bytes of an attachment. `refused`: it is gone, or larger than `limit` bytes; no more than that is ever read.
   */
  fetchFile(binding: Binding, attachment: Attachment, limit: number, signal: AbortSignal): Promise<Uint8Array>;
  /** Forgets what was kept for this bot (clients, rate windows). */
  forget(binding: Binding): void;
}

/** A connection of our own: a long poll, a gateway. */
export interface ConnectionListener {
  /** A connection that did not call `reportAlive` for so many milliseconds is dead, whatever it says. */
  readonly silenceTimeout: number;
  /** Receives until `signal` aborts; then it returns. */
  listen(binding: Binding, sink: Sink, signal: AbortSignal): Promise<void>;
}

/** The platform posts to an address of ours. */
export interface WebhookReceiver {
  /** There are posts whose sender the address alone proves: then it holds a key that is stored nowhere in clear. */
  readonly isAuthenticatedByUrl?: boolean;
  /** What people write is lost while no address is registered, so a stopped agent's stays: what it doesn't take is posted again later. */
  readonly staysRegisteredWhileStopped?: boolean;
  /** Has the platform post to `target` from now on. */
  register(binding: Binding, target: WebhookTarget, signal: AbortSignal): Promise<void>;
  /** Takes back `register`. */
  unregister(binding: Binding, signal: AbortSignal): Promise<void>;
  /**
   * One request of the platform (GET where it proves an address, POST for messages). Checks `secret`, or what the
   * platform signs with, before the body is understood; answers 200 only once the messages are stored.
   */
  receive(binding: Binding, secret: string, request: Request, sink: Sink): Promise<Response>;
}

/**
 * - `refused`: the platform said no, for good (bad token, bot removed, chat gone): do not try again.
 * - `conflict`: somebody else receives with this token.
 * - `busy`: the platform said later; `retryAfter` tells when.
 * - `unreachable`: nobody knows whether it arrived; try again.
 */
export type ChannelErrorKind = "refused" | "conflict" | "busy" | "unreachable";

/** What went wrong with a platform, in a sentence that may be shown to the agent's owner (never a token). */
export class ChannelError extends Error {
  override readonly name = "ChannelError";

  constructor(
    readonly kind: ChannelErrorKind,
    message: string,
    /** What it concerns: the bot as a whole, or just this conversation. */
    readonly scope: "bot" | "peer",
    /** Milliseconds, with `busy`. */
    readonly retryAfter?: number,
    options?: { cause?: unknown },
  ) {
    super(message, options);
  }
}
