// What the gateway brings, stored in its order. Where it was is kept only once it is stored.
import type { GatewayDispatchPayload } from "discord.js";
import { type Binding, ChannelError, type IncomingMessage, type Sink } from "../channel.ts";
import type { Recent } from "../shared/recent.ts";
import type { Apis, Traffic } from "./api.ts";
import { isRefusal, toChannelError } from "./errors.ts";
import type { Session } from "./gateway.ts";
import type { Interactions } from "./interactions.ts";
import { createPlaces, type Kept, type Place } from "./kept.ts";
import { firstIdOf } from "./peer.ts";
import { type GatewayMessage, isCommand, isMessage, mayNameByRole, readCommand, readMessage } from "./read.ts";

/** Events that may wait to be stored. */
const MOST_WAITING = 1_000;
/** Messages are asked for that are not older than this, as other platforms keep them. */
const REACH = 24 * 60 * 60_000;
/** The most that Discord tells at once. */
const AT_ONCE = "100";

export interface IntakeDeps {
  apis: Apis;
  interactions: Interactions;
  /** Channels known to be of two people. */
  privates: Recent<true>;
  /** The role that came with the bot into a guild. */
  ownRole(binding: Binding, guild: string, signal: AbortSignal): Promise<string | undefined>;
  /** An event that is not as Discord describes it. */
  unreadable(binding: Binding, event: string): void;
  traffic?: Traffic | undefined;
}

interface Waiting {
  payload: GatewayDispatchPayload;
  session: Session | undefined;
}

export function createIntake(
  { apis, interactions, privates, ownRole, unreadable, traffic }: IntakeDeps,
  binding: Binding,
  sink: Sink,
  stop: AbortController,
  kept: Kept | undefined,
) {
  const places = createPlaces(kept?.places ?? []);
  let application = kept?.app ?? "";
  let current: Session | undefined = kept;
  let waiting: Waiting[] = [];
  /** What was stored last, and of which session it was. */
  let stored = { session: current, seq: current?.seq ?? 0 };
  let told = "";
  let running: Promise<void> | undefined;
  let failure: ChannelError | undefined;

  function fail(reason: ChannelError): void {
    failure ??= reason;
    stop.abort();
  }

  /** Keeps where it is, but for commands that wait for their answer: only their event holds the way to it. */
  function keep(): void {
    const { session } = stored;
    if (!session) return;
    const { id, url } = session;
    const seq = interactions.settledBefore(id, stored.seq);
    const now: Kept = { id, url, seq, app: application, places: places.all() };
    const text = JSON.stringify(now);
    if (text === told) return;
    told = text;
    sink.keep(text);
  }

  async function read({ t, d }: { t: string; d: unknown }): Promise<IncomingMessage | undefined> {
    if (t === "INTERACTION_CREATE") return isCommand(d) ? readCommand(d) : undefined;
    if (!isMessage(d)) return void unreadable(binding, t);
    const message: GatewayMessage = d;
    const { guild_id: guild, channel_id: channel } = message;
    if (guild === undefined) privates.set(channel, true);
    const named = guild !== undefined && mayNameByRole(message, binding.bot);
    const role = named ? await ownRole(binding, guild, stop.signal) : undefined;
    const found = readMessage(message, binding.bot, role);
    if (found) places.spoke(channel, message.id, guild, found.addressed);
    return found;
  }

  /** What was said in a conversation since, where it can still be read. */
  async function missedIn([channel, last, guild]: Place): Promise<IncomingMessage[]> {
    const oldest = firstIdOf(Date.now() - REACH);
    const after = BigInt(last) > BigInt(oldest) ? last : oldest;
    const query = new URLSearchParams({ after, limit: AT_ONCE });
    const list = await apis
      .call(binding, stop.signal, { method: "get", path: `/channels/${channel}/messages`, query })
      .catch((error: unknown) => {
        if (isRefusal(error) && error.status !== 401 && error.status < 500) return [];
        throw error;
      });
    const messages = Array.isArray(list) ? list.filter(isMessage) : [];
    messages.sort((a, b) => (BigInt(a.id) < BigInt(b.id) ? -1 : 1));
    const found: IncomingMessage[] = [];
    for (const message of messages) {
      const d = guild === null ? message : { ...message, guild_id: guild };
      const readable = await read({ t: "MESSAGE_CREATE", d });
      if (readable) found.push(readable);
    }
    return found;
  }

  /** A new session tells nothing of what was said before it: the latest conversations are asked. */
  async function missed(): Promise<IncomingMessage[]> {
    const all: IncomingMessage[] = [];
    for (const place of places.all()) all.push(...(await missedIn(place)));
    return all;
  }

  async function readAll(batch: Waiting[]): Promise<IncomingMessage[]> {
    const messages: IncomingMessage[] = [];
    for (const { payload } of batch) {
      if (payload.t === "READY") messages.push(...(await missed()));
      const message = wanted(payload) ? await read(payload) : undefined;
      if (message) messages.push(message);
    }
    return messages;
  }

  async function store(): Promise<void> {
    while (waiting.length > 0 && !stop.signal.aborted) {
      const batch = waiting;
      waiting = [];
      try {
        const messages = await readAll(batch);
        if (messages.length > 0) await sink.accept(messages);
      } catch (cause) {
        const text = "The messages could not be stored; Discord tells them again.";
        const told = isRefusal(cause) || cause instanceof ChannelError ? toChannelError(cause, "bot") : undefined;
        return fail(told ?? new ChannelError("unreachable", text, "bot", undefined, { cause }));
      }
      const last = batch.at(-1);
      if (last) stored = { session: last.session, seq: last.payload.s };
      keep();
    }
  }

  return {
    get application() {
      return application;
    },
    failure: () => failure,
    began(session: Session, app: string) {
      current = session;
      application = app;
    },
    event(payload: GatewayDispatchPayload): void {
      if (payload.t === "INTERACTION_CREATE" && isCommand(payload.d))
        interactions.take(binding, payload.d, { session: current?.id ?? "", seq: payload.s });
      if (wanted(payload)) traffic?.(binding.agentId, 0, Buffer.byteLength(JSON.stringify(payload.d)));
      waiting.push({ payload, session: current });
      if (waiting.length > MOST_WAITING)
        fail(new ChannelError("unreachable", "Messages come faster than they can be stored.", "bot"));
      running ??= store().finally(() => {
        running = undefined;
      });
    },
    beat() {
      interactions.sweep(binding.bot.id);
      if (!running) keep();
    },
    done: () => running ?? Promise.resolve(),
  };
}

const wanted = ({ t }: GatewayDispatchPayload) => t === "MESSAGE_CREATE" || t === "INTERACTION_CREATE";
