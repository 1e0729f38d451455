// Listening: connections one after the other, as long as there is use in another one.

import { setTimeout as sleep } from "node:timers/promises";
import { type Binding, ChannelError, type Sink } from "../channel.ts";
import { createRates } from "../shared/rates.ts";
import type { Apis } from "./api.ts";
import { isRefusal, tokenRefused } from "./errors.ts";
import { connect, type Ending, isRoutine, type Session } from "./gateway.ts";
import { createIntake, type IntakeDeps } from "./intake.ts";
import { parseKept } from "./kept.ts";
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

export interface ListenDeps extends IntakeDeps {
  /** Runs at each connection that works. */
  connected(binding: Binding, application: string): void;
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
    const intake = createIntake(deps, binding, sink, stop, kept);
    let session: Session | undefined = kept;
    let mayRead: boolean | undefined;
    let isReady = false;
    let atFrontDoor = false;

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
      if (isReady && isRoutine(ending)) return;
      // Nothing was lost but the session: the next connection begins a new one.
      if (session && (!ending.session || SESSION_LOST.includes(ending.code))) return;
      if (session && !ending.greeted && !atFrontDoor) {
        // The address of a session may be gone while Discord is there.
        atFrontDoor = true;
        return;
      }
      throw new ChannelError("unreachable", `Discord closed the connection (${ending.code}).`, "bot");
    }

    try {
      while (!signal.aborted && !stop.signal.aborted) {
        const rest = await apis.client(binding);
        if (!session) mayRead ??= await mayReadContent(apis, binding, stop.signal);
        isReady = false;
        const ready = () => {
          isReady = true;
          atFrontDoor = false;
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
            atFrontDoor,
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

/** Between two connections of a bot with which nothing is wrong: not all at once where Discord moves many. */
const pause = (signal: AbortSignal) =>
  sleep(100 + Math.random() * 400, undefined, { signal, ref: false }).catch(() => undefined);
