// The interface through which the contract's scenarios drive a platform, and the steps that they share.
import { afterEach, beforeEach, expect } from "bun:test";
import { createWatch } from "../../tests/support/eventually.ts";
import type { SentFile } from "../../tests/support/sent-file.ts";
import type { ChannelCapabilities } from "../definition.ts";
import {
  type Binding,
  type ChannelAdapter,
  ChannelError,
  type Choice,
  type DeliveryFailure,
  type FileKind,
  type IncomingMessage,
  type OutgoingMessage,
  type Sink,
  type WebhookReceiver,
} from "../port.ts";

export type ConversationKind = "private" | "group";
/** `lost`: the call has its effect, and its answer does not arrive. */
export type Fault = "busy" | "broken" | "cut" | "lost" | "silent";

/** The secret that a platform sends with its posts. */
const SECRET = "s".repeat(40);

/** A fake platform: its people, its faults, and what people see there. */
export interface PlatformFixture extends AsyncDisposable {
  channel: ChannelAdapter;
  binding: Binding;
  /** A token of the right form that belongs to no bot. */
  strangeToken: string;
  /** On a platform without groups, `group` is another person's private conversation. */
  peers: Record<ConversationKind, string>;
  /** Characters that fit in one message. */
  limit: number;
  /** A person writes; `isNamed`: the message mentions the bot. Returns the platform's id of the message. */
  userSays(text: string, kind?: ConversationKind, isNamed?: boolean): string;
  /** A person sends a picture with this text, in private. Returns the platform's id of the message. */
  userSendsPicture(bytes: Uint8Array, words: string): string;
  /** A person answers this message of their own, in private. */
  userReplies(id: string, words: string): void;
  /** A person records a voice message (Ogg Opus), in private. Returns the platform's id of the message. */
  userSendsVoice(bytes: Uint8Array): string;
  /** Delivers the last message again, unchanged. */
  redeliverLast(): void;
  /** The author edits the last message. */
  editLast(text: string): void;
  /** The author deletes the last message. */
  deleteLast(): void;
  /** A person writes these texts in private, and they are delivered in reverse order. Returns their ids. */
  userSaysOutOfOrder(texts: readonly string[]): string[];
  /** Another person removes a message of the bot. */
  removeBotMessage(id: string): void;
  /** The bot's messages that can be read in a conversation now. */
  visibleMessages(kind?: ConversationKind): { id: string; text: string; replyTo?: string; file?: SentFile }[];
  /** The platform's own word for how a file of each kind is shown. */
  shownAs: Readonly<Record<FileKind, string>>;
  /** The buttons that a message of the bot shows now. */
  visibleChoices(id: string): Choice[];
  /** The person of the private conversation presses a button of a message there. */
  userChooses(id: string, choice: Choice): void;
  /** Every text that was shown of a growing reply. */
  previewTexts(kind?: ConversationKind): string[];
  typingCount(kind?: ConversationKind): number;
  /** Makes the next call that sends a message fail; `busy` asks to wait 2 s. */
  failNextSend(fault: Fault): void;
  /** Makes the next call with a file fail; `refused`: all calls that try to send the next file. */
  failNextFiles(fault: Fault | "refused"): void;
  failNextReceive(fault: "broken" | "cut"): void;
  userBlocksBot(): void;
  revokeToken(): void;
  /** Messages that were not confirmed to the platform. */
  unconfirmedCount(): number;
}

/** A sink that keeps messages in memory, or fails if the test sets `broken`. */
export function createMemorySink() {
  const watch = createWatch();
  const state = {
    messages: [] as IncomingMessage[],
    undelivered: [] as DeliveryFailure[],
    resume: undefined as string | undefined,
    alive: 0,
    broken: false,
    mayAnswer: true,
    gate: Promise.resolve(),
  };
  const sink: Sink = {
    async accept(messages) {
      await state.gate;
      if (state.broken) throw new Error("the disk is full");
      state.messages.push(...messages);
      watch.changed();
    },
    reportAlive() {
      state.alive += 1;
      watch.changed();
    },
    saveResumePoint(resume) {
      state.resume = resume;
      watch.changed();
    },
    mayAnswer: () => Promise.resolve(state.mayAnswer),
    reportUndelivered(failures) {
      state.undelivered.push(...failures);
      watch.changed();
      return Promise.resolve();
    },
  };
  return { state, sink, waitFor: watch.waitFor, texts: () => state.messages.map(({ text }) => text) };
}

/** The error of a promise that must fail. Checks that it is a `ChannelError` without the token. */
export async function channelErrorOf(promise: Promise<unknown>, token: string): Promise<ChannelError> {
  const error: unknown = await promise.then(
    () => new Error("It did not fail."),
    (reason: unknown) => reason,
  );
  if (!(error instanceof ChannelError)) throw new Error("Not a ChannelError", { cause: error });
  expect(Bun.inspect(error, { depth: 10 })).not.toContain(token.split(":").at(-1) ?? token);
  return error;
}

/** The platform of the running scenario, new for each, and shortcuts for the verbs. */
export function createHarness(start: () => Promise<PlatformFixture>, capabilities: ChannelCapabilities) {
  let platform: PlatformFixture;
  let stop: AbortController;
  beforeEach(async () => {
    platform = await start();
    stop = new AbortController();
  });
  afterEach(async () => {
    stop.abort();
    await platform[Symbol.asyncDispose]();
  });
  const serve = (sink: Sink) =>
    Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: (request) => webhook().receive(platform.binding, SECRET, request, sink),
    });

  function webhook(): WebhookReceiver {
    if (!platform.channel.webhook) throw new Error("This platform does not post.");
    return platform.channel.webhook;
  }

  function listen(sink: Sink): Promise<void> {
    if (!platform.channel.listener) throw new Error("This platform is not listened to.");
    return platform.channel.listener.listen(platform.binding, sink, stop.signal);
  }

  /** Receives the platform's posts until `stop`. */
  async function receiveByWebhook(sink: Sink): Promise<void> {
    await using server = serve(sink);
    const { signal } = stop;
    const registered = webhook().register(platform.binding, { url: `${server.url}hook`, secret: SECRET }, signal);
    await registered.catch((error: unknown) => {
      if (!signal.aborted) throw error;
    });
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
  }

  return {
    capabilities,
    serve,
    webhook,
    get platform() {
      return platform;
    },
    get signal() {
      return stop.signal;
    },
    stop: () => stop.abort(),
    /** After `stop`: gives later calls a new signal. */
    resetSignal() {
      stop = new AbortController();
    },
    listen,
    /** Receives by the channel's listener, or else by its webhook. */
    receive: (sink: Sink) => (capabilities.hasListener ? listen(sink) : receiveByWebhook(sink)),
    register: (url: string) => webhook().register(platform.binding, { url, secret: SECRET }, stop.signal),
    message: (more: Partial<OutgoingMessage> = {}): OutgoingMessage => ({
      id: "0190f5e6-0000-7000-8000-000000000001",
      peer: platform.peers.private,
      text: "the reply",
      attempts: 0,
      deliveredParts: [],
      ...more,
    }),
    /** Sends as the outbox does: counts tries, and records each delivered part at once. */
    async send(out: OutgoingMessage, signal = stop.signal): Promise<string[]> {
      out.attempts += 1;
      const before = { ...out, attempts: out.attempts - 1 };
      await platform.channel.send(platform.binding, before, (part) => out.deliveredParts.push(part), signal);
      return out.deliveredParts;
    },
    expectChannelError: (promise: Promise<unknown>) => channelErrorOf(promise, platform.binding.token),
  };
}

export type Harness = ReturnType<typeof createHarness>;
