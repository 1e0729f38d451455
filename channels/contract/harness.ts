// A platform as the contract's scenarios play it, and the parts they share.
import { afterEach, beforeEach, expect } from "bun:test";
import { createWatch } from "../../tests/support/eventually.ts";
import {
  type Binding,
  type ChannelAdapter,
  ChannelError,
  type DeliveryFailure,
  type IncomingMessage,
  type OutgoingMessage,
  type Sink,
  type WebhookReceiver,
} from "../port.ts";

export type ConversationKind = "private" | "group";
/** `lost`: the call has its effect, and its answer does not arrive. */
export type Fault = "busy" | "broken" | "cut" | "lost" | "silent";

/** How a channel receives: by a connection of its own, by what the platform posts, or both; and what it has. */
export interface PlatformCapabilities {
  hasListener: boolean;
  hasWebhook: boolean;
  hasGroups: boolean;
  /** A reply can be shown while it grows. */
  hasPreviews: boolean;
  /** Only one may listen with a token at a time. */
  isSingleReceiver: boolean;
}

/** What a platform that posts has to bring along. */
const SECRET = "s".repeat(40);

/** A platform as the scenarios play it: its people, its accidents, and what they see. */
export interface PlatformFixture extends AsyncDisposable {
  channel: ChannelAdapter;
  binding: Binding;
  /** A token that is nobody's, in the right form. */
  strangeToken: string;
  /** Where there are no groups, `group` is another person's private conversation. */
  peers: Record<ConversationKind, string>;
  /** Characters that fit in one message. */
  limit: number;
  /** Sending the same message again does not show it again. */
  isIdempotent: boolean;
  /** Somebody writes; `isNamed`: the bot is named. Answers the platform's id of it. */
  userSays(text: string, kind?: ConversationKind, isNamed?: boolean): string;
  /** Somebody sends a picture with these words, in private. Answers the platform's id of the message. */
  userSendsPicture(bytes: Uint8Array, words: string): string;
  /** The last message comes again, as it was. */
  redeliverLast(): void;
  /** Its author changes the last message. */
  editLast(text: string): void;
  /** Its author takes the last message back. */
  deleteLast(): void;
  /** Somebody writes these in a private place, and they are delivered in the reverse order. Answers their ids. */
  userSaysOutOfOrder(texts: readonly string[]): string[];
  /** Somebody else removes a message of the bot. */
  removeBotMessage(id: string): void;
  /** What of the bot is to be read in a place now. */
  visibleMessages(kind?: ConversationKind): { id: string; text: string; replyTo?: string }[];
  /** Every state a growing reply was shown in. */
  previewTexts(kind?: ConversationKind): string[];
  typingCount(kind?: ConversationKind): number;
  /** The next call that sends a message has this accident; `busy` asks for 2 s. */
  failNextSend(fault: Fault): void;
  failNextReceive(fault: "broken" | "cut"): void;
  userBlocksBot(): void;
  revokeToken(): void;
  /** Messages whose arrival the platform was not told of. */
  unconfirmedCount(): number;
}

/** Stores what comes, or refuses to, as the test says. */
export function createMemorySink() {
  const watch = createWatch();
  const state = {
    messages: [] as IncomingMessage[],
    undelivered: [] as DeliveryFailure[],
    resume: undefined as string | undefined,
    alive: 0,
    broken: false,
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
    reportUndelivered(failures) {
      state.undelivered.push(...failures);
      watch.changed();
      return Promise.resolve();
    },
  };
  return { state, sink, waitFor: watch.waitFor, texts: () => state.messages.map(({ text }) => text) };
}

/** What a promise that must fail failed with: always a `ChannelError`, never with a token in it. */
export async function channelErrorOf(promise: Promise<unknown>, token: string): Promise<ChannelError> {
  const error: unknown = await promise.then(
    () => new Error("It did not fail."),
    (reason: unknown) => reason,
  );
  if (!(error instanceof ChannelError)) throw new Error("Not a ChannelError", { cause: error });
  expect(Bun.inspect(error, { depth: 10 })).not.toContain(token.split(":").at(-1) ?? token);
  return error;
}

/** The platform of the scenario that runs, new for each, and the verbs as they are mostly used. */
export function createHarness(start: () => Promise<PlatformFixture>, capabilities: PlatformCapabilities) {
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

  /** What is posted, until `stop`. */
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
    /** After `stop`: what is begun from now on has a signal of its own. */
    resetSignal() {
      stop = new AbortController();
    },
    listen,
    /** Receives in the way the channel has. */
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
    /** Sends, as the outbox does: tries are counted, and what was delivered is noted as soon as it is known. */
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
