// One connection to the gateway, kept by discord.js's own manager; whether and when there is another, is decided elsewhere:
// left to itself the manager would begin anew every half second, and forget the session where only the network failed.
import type { GatewayDispatchPayload, GatewayReadyDispatchData, REST } from "discord.js";
import { ChannelError } from "../channel.ts";
import { toChannelError } from "./errors.ts";

/** What it takes to go on where a connection ended. */
export interface Session {
  id: string;
  url: string;
  /** Of the last event. */
  seq: number;
}

export interface Connecting {
  token: string;
  rest: REST;
  intents: number;
  session: Session | undefined;
  /** Goes on where everybody begins: the session's own address does not answer. */
  atFrontDoor: boolean;
  /** Waits until a new session may be begun, or throws. */
  mayIdentify(left: number, resetAfter: number, signal: AbortSignal): Promise<void>;
  ready(data: GatewayReadyDispatchData): void;
  resumed(): void;
  /** A sign of life. */
  alive(): void;
  event(payload: GatewayDispatchPayload): void;
}

/** How a connection ended; no session: the next one begins anew. */
export interface Ending {
  code: number;
  session: Session | undefined;
  /** Discord said hello: there was somebody. */
  greeted: boolean;
}

/** Not 1000 or 1001, which would end the session. */
const LEAVE = 4200;
/** What the manager calls an end of its own that loses the session. */
const ANEW = 1000;

/** Connects, and resolves when the connection has ended. Ends it when `signal` aborts. */
export async function connect(options: Connecting, signal: AbortSignal): Promise<Ending> {
  const { WebSocketManager } = await import("@discordjs/ws");
  const { token, rest, intents, session, mayIdentify } = options;
  const ended = Promise.withResolvers<Ending>();
  const leaving = new AbortController();
  let known = session && {
    sessionId: session.id,
    resumeURL: session.url,
    sequence: session.seq,
    shardId: 0,
    shardCount: 1,
  };
  let over = false;
  let greeted = false;

  const manager = new WebSocketManager({
    token,
    rest,
    intents,
    shardCount: 1,
    shardIds: [0],
    identifyProperties: { os: process.platform, browser: "berth", device: "berth" },
    // Who supervises notices silence.
    helloTimeout: null,
    readyTimeout: null,
    // After its end the manager would connect again, and asks this first.
    retrieveSessionInfo: () => (over ? never() : (known ?? null)),
    updateSessionInfo(_, next) {
      if (!over) known = next ?? undefined;
    },
    buildIdentifyThrottler: () => ({
      async waitForIdentify() {
        try {
          const { session_start_limit: limit } = await manager.fetchGatewayInformation();
          await mayIdentify(limit.remaining, limit.reset_after, leaving.signal);
        } catch (error) {
          finish(() => ended.reject(toChannelError(error, "bot")));
        }
        // An error here would make the manager identify all the same.
        if (over) await never();
      },
    }),
  });

  function finish(settle: () => void): void {
    if (over) return;
    over = true;
    settle();
    leaving.abort();
    if (greeted) leave();
  }
  /** Never waited for: who is silent does not say goodbye. */
  const leave = () => {
    Promise.resolve(manager.destroy({ code: LEAVE, reason: "Leaving" })).catch(() => undefined);
  };

  const end = (code: number) =>
    finish(() => {
      const left = known && { id: known.sessionId, url: known.resumeURL, seq: known.sequence };
      ended.resolve({ code, session: left, greeted });
    });
  type Events = Parameters<typeof manager.on>[0];
  const on = (event: string, listener: (data: never) => void) => manager.on(event as Events, listener as never);
  on("hello", () => {
    greeted = true;
    // It was ended while it was not yet open.
    if (over) leave();
  });
  on("ready", ({ data }: { data: GatewayReadyDispatchData }) => !over && options.ready(data));
  on("resumed", () => !over && options.resumed());
  on("heartbeat", () => !over && options.alive());
  on("dispatch", ({ data }: { data: GatewayDispatchPayload }) => !over && options.event(data));
  on("closed", ({ code }: { code: number }) => end(code));
  // What an error means, the close that follows tells.
  on("error", () => undefined);

  async function open(): Promise<void> {
    if (known && options.atFrontDoor) known = { ...known, resumeURL: (await manager.fetchGatewayInformation()).url };
    await manager.connect();
  }

  const abort = () => end(LEAVE);
  signal.addEventListener("abort", abort, { once: true });
  if (signal.aborted) abort();
  else {
    open().catch((error: unknown) => {
      finish(() => ended.reject(error instanceof ChannelError ? error : toChannelError(error, "bot")));
    });
  }
  try {
    return await ended.promise;
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

/** True when Discord or this side asked for a new connection, as it does now and then, and nothing is wrong. */
export const isRoutine = ({ code }: Ending) => code === LEAVE || code === ANEW;

const never = () => new Promise<never>(() => undefined);
