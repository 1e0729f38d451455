// Listens to the gateway: opens one connection after the other until a failure that a new one would not repair.

import { setTimeout as sleep } from "node:timers/promises";
import { MINUTE } from "../../../src/kernel/util/time.ts";
import { type Binding, ChannelError, type Sink } from "../../port.ts";
import { createRateLimiter } from "../../shared/rate-limiter.ts";
import { isRefusal, tokenRefused } from "../errors.ts";
import type { DiscordRateRules } from "../rate-rules.ts";
import type { RestClients } from "../rest/rest-clients.ts";
import { createEventQueue, type EventQueueDeps } from "./event-queue.ts";
import { connect, type GatewayClosure, type GatewaySession, isRoutineClosure } from "./gateway-connection.ts";
import { parseResumeState } from "./resume-state.ts";

/** https://discord.com/developers/docs/events/gateway#list-of-intents */
const GUILD_MESSAGES = 1 << 9;
const DIRECT_MESSAGES = 1 << 12;
const MESSAGE_CONTENT = 1 << 15;
/** https://discord.com/developers/docs/resources/application#application-object-application-flags */
const CONTENT_INTENT_FLAGS = (1 << 18) | (1 << 19);
/** https://discord.com/developers/docs/topics/opcodes-and-status-codes#gateway */
const BAD_TOKEN = 4004;
const DISALLOWED_INTENTS = 4014;
const SESSION_LOST = [4007, 4009];

/** Discord resets the token of a bot that starts 1,000 sessions in a day: the last ones are left to the bot's owner. */
const RESERVED_SESSIONS = 20;

export interface ListenerDeps extends EventQueueDeps {
  /** Called for each connection that is ready. */
  onConnected(binding: Binding, application: string): void;
  rules: DiscordRateRules;
}

export function createListener(deps: ListenerDeps) {
  const rateLimiter = createRateLimiter();

  async function waitToIdentify(
    bot: string,
    remaining: number,
    resetAfter: number,
    signal: AbortSignal,
  ): Promise<void> {
    if (remaining <= RESERVED_SESSIONS) {
      const text =
        "This bot has started nearly as many sessions as Discord allows in a day; it waits for the next day.";
      throw new ChannelError("busy", text, "bot", Math.max(resetAfter, MINUTE));
    }
    const wait = rateLimiter.waitTime(bot, deps.rules.session);
    rateLimiter.take(bot, deps.rules.session);
    if (wait > 0) await sleep(wait, undefined, { signal, ref: false });
  }

  /** Listens until `signal` aborts. Throws the error that ends it otherwise. */
  return async function listen(binding: Binding, sink: Sink, signal: AbortSignal): Promise<void> {
    const { clients } = deps;
    const { token, bot } = binding;
    const stop = new AbortController();
    const abort = () => stop.abort();
    signal.addEventListener("abort", abort, { once: true });
    const resumeState = parseResumeState(binding.resume);
    const eventQueue = createEventQueue(deps, binding, sink, stop, resumeState);
    let session: GatewaySession | undefined = resumeState;
    let hasContentIntent: boolean | undefined;
    let isReady = false;
    let useDefaultUrl = false;

    /** Throws if another connection would be of no use now. */
    function requireReconnectable(closure: GatewayClosure): void {
      if (closure.code === BAD_TOKEN) {
        clients.markTokenRefused(token);
        throw tokenRefused();
      }
      if (closure.code === DISALLOWED_INTENTS && hasContentIntent) {
        hasContentIntent = false;
        return;
      }
      if (closure.code === DISALLOWED_INTENTS) {
        const text =
          "Discord does not let this bot receive messages. Check its privileged intents (Bot → Message Content Intent) in the developer portal.";
        throw new ChannelError("refused", text, "bot");
      }
      if (isReady && isRoutineClosure(closure)) return;
      // Only the session was lost: the next connection starts a new one.
      if (session && (!closure.session || SESSION_LOST.includes(closure.code))) return;
      if (session && !closure.receivedHello && !useDefaultUrl) {
        // The session's address may be gone although Discord is up.
        useDefaultUrl = true;
        return;
      }
      throw new ChannelError("unreachable", `Discord closed the connection (${closure.code}).`, "bot");
    }

    try {
      while (!signal.aborted && !stop.signal.aborted) {
        const rest = await clients.client(binding);
        if (!session) hasContentIntent ??= await fetchHasContentIntent(clients, binding, stop.signal);
        isReady = false;
        const ready = () => {
          isReady = true;
          useDefaultUrl = false;
          sink.reportAlive();
          deps.interactions.markCaughtUp(binding);
          deps.onConnected(binding, eventQueue.application);
        };
        const closure = await connect(
          {
            token,
            rest,
            // Discord ignores these for a resumed session.
            intents: GUILD_MESSAGES | DIRECT_MESSAGES | (hasContentIntent ? MESSAGE_CONTENT : 0),
            session,
            useDefaultUrl,
            waitToIdentify: async (remaining, resetAfter, signal) => {
              // The session was lost while connecting.
              if (hasContentIntent === undefined)
                hasContentIntent = await fetchHasContentIntent(clients, binding, signal);
              await waitToIdentify(bot.id, remaining, resetAfter, signal);
            },
            ready(data) {
              eventQueue.startSession(
                { id: data.session_id, url: data.resume_gateway_url, seq: 0 },
                data.application.id,
              );
              ready();
            },
            resumed: ready,
            heartbeat() {
              sink.reportAlive();
              eventQueue.onHeartbeat();
            },
            event: eventQueue.enqueue,
          },
          stop.signal,
        );
        if (signal.aborted) break;
        const failure = eventQueue.failure();
        if (failure) throw failure;
        requireReconnectable(closure);
        session = SESSION_LOST.includes(closure.code) ? undefined : closure.session;
        await pause(stop.signal);
      }
    } finally {
      signal.removeEventListener("abort", abort);
      stop.abort();
      await eventQueue.drain();
    }
  };
}

/**
 * Whether the application may read the content of every message; without that, only messages to the bot have theirs.
 */
async function fetchHasContentIntent(clients: RestClients, binding: Binding, signal: AbortSignal): Promise<boolean> {
  try {
    const app = await clients.call(binding, signal, { method: "get", path: "/applications/@me" });
    const flags = typeof app === "object" && app !== null && "flags" in app ? app.flags : 0;
    return typeof flags === "number" && (flags & CONTENT_INTENT_FLAGS) !== 0;
  } catch (error) {
    if (isRefusal(error) && error.status !== 401) return false;
    throw error;
  }
}

/** A random pause between two connections, so that bots do not reconnect at once when Discord moves many. */
const pause = (signal: AbortSignal) =>
  sleep(100 + Math.random() * 400, undefined, { signal, ref: false }).catch(() => undefined);
