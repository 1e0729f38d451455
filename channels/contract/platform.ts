// A platform as the contract's scenarios play it, and the parts they share.
import { afterEach, beforeEach, expect } from "bun:test";
import { createWatch } from "../../tests/support/eventually.ts";
import {
  type Binding,
  type Channel,
  ChannelError,
  type IncomingMessage,
  type OutgoingMessage,
  type Posts,
  type Sink,
  type Undelivered,
} from "../channel.ts";

export type Place = "private" | "group";
/** `lost`: the call has its effect, and its answer does not arrive. */
export type Accident = "busy" | "broken" | "cut" | "lost" | "silent";

/** How a channel receives: by a connection of its own, by what the platform posts, or both; and what it has. */
export interface Ways {
  listens: boolean;
  posted: boolean;
  groups: boolean;
  /** A reply can be shown while it grows. */
  grows: boolean;
  /** Only one may listen with a token at a time. */
  exclusive: boolean;
}

/** What a platform that posts has to bring along. */
const SECRET = "s".repeat(40);

/** A platform as the scenarios play it: its people, its accidents, and what they see. */
export interface Platform extends AsyncDisposable {
  channel: Channel;
  binding: Binding;
  /** A token that is nobody's, in the right form. */
  strangeToken: string;
  /** Where there are no groups, `group` is another person's private conversation. */
  peers: Record<Place, string>;
  /** Characters that fit in one message. */
  limit: number;
  /** Sending the same message again does not show it again. */
  idempotent: boolean;
  /** Somebody writes; `naming` the bot. Answers the platform's id of it. */
  says(text: string, place?: Place, naming?: boolean): string;
  /** Somebody sends a picture with these words, in private. Answers the platform's id of the message. */
  pictures(bytes: Uint8Array, words: string): string;
  /** The last message comes again, as it was. */
  repeats(): void;
  /** Its author changes the last message. */
  edits(text: string): void;
  /** Its author takes the last message back. */
  deletes(): void;
  /** Somebody writes these in a private place, and they are delivered in the reverse order. Answers their ids. */
  disorders(texts: readonly string[]): string[];
  /** Somebody else removes a message of the bot. */
  removes(id: string): void;
  /** What of the bot is to be read in a place now. */
  shown(place?: Place): { id: string; text: string; replyTo?: string }[];
  /** Every state a growing reply was shown in. */
  grew(place?: Place): string[];
  typing(place?: Place): number;
  /** The next call that sends a message has this accident; `busy` asks for 2 s. */
  sendFails(accident: Accident): void;
  receiveFails(accident: "broken" | "cut"): void;
  blocks(): void;
  revokes(): void;
  /** Messages whose arrival the platform was not told of. */
  unconfirmed(): number;
}

/** Stores what comes, or refuses to, as the test says. */
export function memory() {
  const watch = createWatch();
  const state = {
    messages: [] as IncomingMessage[],
    undelivered: [] as Undelivered[],
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
    alive() {
      state.alive += 1;
      watch.changed();
    },
    keep(resume) {
      state.resume = resume;
      watch.changed();
    },
    undelivered(failures) {
      state.undelivered.push(...failures);
      watch.changed();
      return Promise.resolve();
    },
  };
  return { state, sink, waitFor: watch.waitFor, texts: () => state.messages.map(({ text }) => text) };
}

/** What a promise that must fail failed with: always a `ChannelError`, never with a token in it. */
export async function failure(promise: Promise<unknown>, token: string): Promise<ChannelError> {
  const error: unknown = await promise.then(
    () => new Error("It did not fail."),
    (reason: unknown) => reason,
  );
  if (!(error instanceof ChannelError)) throw new Error("Not a ChannelError", { cause: error });
  expect(Bun.inspect(error, { depth: 10 })).not.toContain(token.split(":").at(-1) ?? token);
  return error;
}

/** The platform of the scenario that runs, new for each, and the verbs as they are mostly used. */
export function stage(start: () => Promise<Platform>, ways: Ways) {
  let platform: Platform;
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
      fetch: (request) => posts().receive(platform.binding, SECRET, request, sink),
    });

  function posts(): Posts {
    if (!platform.channel.posts) throw new Error("This platform does not post.");
    return platform.channel.posts;
  }

  function listen(sink: Sink): Promise<void> {
    if (!platform.channel.listening) throw new Error("This platform is not listened to.");
    return platform.channel.listening.listen(platform.binding, sink, stop.signal);
  }

  /** What is posted, until `stop`. */
  async function bePosted(sink: Sink): Promise<void> {
    await using server = serve(sink);
    const { signal } = stop;
    const registered = posts().register(platform.binding, { url: `${server.url}hook`, secret: SECRET }, signal);
    await registered.catch((error: unknown) => {
      if (!signal.aborted) throw error;
    });
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
  }

  return {
    ways,
    serve,
    posts,
    get platform() {
      return platform;
    },
    get signal() {
      return stop.signal;
    },
    stop: () => stop.abort(),
    /** After `stop`: what is begun from now on has a signal of its own. */
    again() {
      stop = new AbortController();
    },
    listen,
    /** Receives in the way the channel has. */
    hear: (sink: Sink) => (ways.listens ? listen(sink) : bePosted(sink)),
    register: (url: string) => posts().register(platform.binding, { url, secret: SECRET }, stop.signal),
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
    fails: (promise: Promise<unknown>) => failure(promise, platform.binding.token),
  };
}

export type Stage = ReturnType<typeof stage>;
