// Listening: connections one after the other, and what they bring stored in its order. Where it was is kept only once it is stored.

import { setTimeout as sleep } from "node:timers/promises";
import type { GatewayDispatchPayload } from "discord.js";
import { type Binding, ChannelError, type IncomingMessage, type Sink } from "../channel.ts";
import { createRates } from "../shared/rates.ts";
import type { Recent } from "../shared/recent.ts";
import type { Apis, Traffic } from "./api.ts";
import { isRefusal, tokenRefused } from "./errors.ts";
import { connect, type Ending, isRoutine, type Session } from "./gateway.ts";
import type { Interactions } from "./interactions.ts";
import { type GatewayMessage, isCommand, isMessage, mayNameByRole, readCommand, readMessage } from "./read.ts";
import type { Rules } from "./rules.ts";

/** https://discord.com/developers/docs/events/gateway#list-of-intents */
const GUILD_MESSAGES = 1 << 9;
const DIRECT_MESSAGES = 1 << 12;
const MESSAGE_CONTENT = 1 << 15;
/** https://discord.com/developers/docs/resources/application#application-object-application-flags */
const MAY_READ_CONTENT = (1 << 18) | (1 << 19);
/** https://discord.com/developers/docs/topics/opcodes-and-status-codes#gateway */
const BAD_TOKEN = 4004;
const DISALLOWED_INTENTS = 4014;
const SESSION_LOST = [4007, 4009];

/** Discord resets the token of a bot that begins 1,000 sessions in a day: the last ones are left to people. */
const SPARE = 20;
/** Events that may wait to be stored. */
const MOST_WAITING = 1_000;

/** What `Sink.keep` is given. */
interface Kept extends Session {
  /** The application, whose commands these are. */
  app: string;
}

export interface ListenDeps {
  apis: Apis;
  interactions: Interactions;
  privates: Recent<true>;
  /** The role that came with the bot into a guild. */
  ownRole(binding: Binding, guild: string, signal: AbortSignal): Promise<string | undefined>;
  /** Runs at each connection that works. */
  connected(binding: Binding, application: string): void;
  /** An event that is not as Discord describes it. */
  unreadable(binding: Binding, event: string): void;
  traffic?: Traffic | undefined;
  rules: Rules;
}

export function createListening(deps: ListenDeps) {
  const rates = createRates();

  async function mayIdentify(bot: string, left: number, resetAfter: number, signal: AbortSignal): Promise<void> {
    if (left <= SPARE) {
      const text = "This bot has begun nearly as many sessions as Discord allows in a day; it waits for the next one.";
      throw new ChannelError("busy", text, "bot", Math.max(resetAfter, 60_000));
    }
    const wait = rates.wait(bot, deps.rules.session);
    rates.take(bot, deps.rules.session);
    if (wait > 0) await sleep(wait, undefined, { signal, ref: false });
  }

  /** Listens until `signal` aborts. Throws what ends it otherwise. */
  return async function listen(binding: Binding, sink: Sink, signal: AbortSignal): Promise<void> {
    const { apis } = deps;
    const { token, bot } = binding;
    const stop = new AbortController();
    const abort = () => stop.abort();
    signal.addEventListener("abort", abort, { once: true });
    const kept = parseKept(binding.resume);
    const intake = createIntake(deps, binding, sink, stop, kept?.app ?? "");
    let session: Session | undefined = kept;
    let mayRead: boolean | undefined;
    let isReady = false;

    /** Throws where there is no use in another connection now. */
    function judge(ending: Ending): void {
      if (ending.code === BAD_TOKEN) {
        apis.refused(token);
        throw tokenRefused();
      }
      if (ending.code === DISALLOWED_INTENTS && mayRead) {
        mayRead = false;
        return;
      }
      if (ending.code === DISALLOWED_INTENTS) {
        const text =
          "Discord does not let this bot receive messages. Check its privileged intents (Bot → Message Content Intent) in the developer portal.";
        throw new ChannelError("refused", text, "bot");
      }
      if (isReady && (isRoutine(ending) || SESSION_LOST.includes(ending.code))) return;
      // Nothing was lost but the session: the next connection begins a new one.
      if (session && !ending.session) return;
      throw new ChannelError("unreachable", `Discord closed the connection (${ending.code}).`, "bot");
    }

    try {
      while (!signal.aborted && !stop.signal.aborted) {
        const rest = await apis.client(binding);
        if (!session) mayRead ??= await mayReadContent(apis, binding, stop.signal);
        isReady = false;
        const ready = () => {
          isReady = true;
          sink.alive();
          deps.interactions.caughtUp(binding);
          deps.connected(binding, intake.application);
        };
        const ending = await connect(
          {
            token,
            rest,
            // Those of a session that goes on are its own.
            intents: GUILD_MESSAGES | DIRECT_MESSAGES | (mayRead ? MESSAGE_CONTENT : 0),
            session,
            mayIdentify: async (left, resetAfter, signal) => {
              // The session was lost on the way.
              if (mayRead === undefined) mayRead = await mayReadContent(apis, binding, signal);
              await mayIdentify(bot.id, left, resetAfter, signal);
            },
            ready(data) {
              intake.began({ id: data.session_id, url: data.resume_gateway_url, seq: 0 }, data.application.id);
              ready();
            },
            resumed: ready,
            alive() {
              sink.alive();
              intake.beat();
            },
            event: intake.event,
          },
          stop.signal,
        );
        if (signal.aborted) break;
        const failure = intake.failure();
        if (failure) throw failure;
        judge(ending);
        session = SESSION_LOST.includes(ending.code) ? undefined : ending.session;
        await pause(stop.signal);
      }
    } finally {
      signal.removeEventListener("abort", abort);
      stop.abort();
      await intake.done();
    }
  };
}

/** Whether the bot's application may ask for the content of every message. Without it, what is for the bot still has its own. */
async function mayReadContent(apis: Apis, binding: Binding, signal: AbortSignal): Promise<boolean> {
  try {
    const app = await apis.call(binding, signal, { method: "get", path: "/applications/@me" });
    const flags = typeof app === "object" && app !== null && "flags" in app ? app.flags : 0;
    return typeof flags === "number" && (flags & MAY_READ_CONTENT) !== 0;
  } catch (error) {
    if (isRefusal(error) && error.status !== 401) return false;
    throw error;
  }
}

/** What comes, stored one after the other. */
function createIntake(deps: ListenDeps, binding: Binding, sink: Sink, stop: AbortController, app: string) {
  const { interactions, privates } = deps;
  let application = app;
  let current: Session | undefined = parseKept(binding.resume);
  let waiting: { payload: GatewayDispatchPayload; session: Session | undefined }[] = [];
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
    const kept: Kept = { id, url, seq: interactions.settledBefore(id, stored.seq), app: application };
    const text = JSON.stringify(kept);
    if (text === told) return;
    told = text;
    sink.keep(text);
  }

  async function read(payload: GatewayDispatchPayload): Promise<IncomingMessage | undefined> {
    const d: unknown = payload.d;
    if (payload.t === "INTERACTION_CREATE") return isCommand(d) ? readCommand(d) : undefined;
    if (!isMessage(d)) return void deps.unreadable(binding, payload.t);
    const message: GatewayMessage = d;
    const { guild_id: guild } = message;
    if (guild === undefined) privates.set(message.channel_id, true);
    const named = guild !== undefined && mayNameByRole(message, binding.bot);
    const role = named ? await deps.ownRole(binding, guild, stop.signal) : undefined;
    return readMessage(message, binding.bot, role);
  }

  async function store(): Promise<void> {
    while (waiting.length > 0 && !stop.signal.aborted) {
      const batch = waiting;
      waiting = [];
      const messages: IncomingMessage[] = [];
      for (const { payload } of batch) {
        const message = wanted(payload) ? await read(payload) : undefined;
        if (message) messages.push(message);
      }
      try {
        if (messages.length > 0) await sink.accept(messages);
      } catch (cause) {
        const text = "The messages could not be stored; Discord tells them again.";
        return fail(new ChannelError("unreachable", text, "bot", undefined, { cause }));
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
      if (wanted(payload)) deps.traffic?.(binding.agentId, 0, Buffer.byteLength(JSON.stringify(payload.d)));
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

/** Between two connections of a bot with which nothing is wrong: not all at once where Discord moves many. */
const pause = (signal: AbortSignal) =>
  sleep(100 + Math.random() * 400, undefined, { signal, ref: false }).catch(() => undefined);

const wanted = ({ t }: GatewayDispatchPayload) => t === "MESSAGE_CREATE" || t === "INTERACTION_CREATE";

function parseKept(text: string | undefined): Kept | undefined {
  if (text === undefined) return undefined;
  try {
    const { id, url, seq, app } = JSON.parse(text) as Partial<Record<keyof Kept, unknown>>;
    const whole = typeof id === "string" && typeof url === "string" && typeof app === "string";
    return whole && typeof seq === "number" && seq > 0 ? { id, url, seq, app } : undefined;
  } catch {
    return undefined;
  }
}
