// One connection to the gateway, kept by discord.js's own manager; whether and when there is another, is decided elsewhere:
// left to itself the manager would begin anew every half second, and forget the session where only the network failed.
import type { GatewayDispatchPayload, GatewayReadyDispatchData, REST } from "discord.js";
import { ChannelError } from "../../port.ts";
import { toChannelError } from "../errors.ts";

/** What it takes to go on where a connection ended. */
export interface GatewaySession {
  id: string;
  url: string;
  /** Of the last event. */
  seq: number;
}

export interface GatewayOptions {
  token: string;
  rest: REST;
  intents: number;
  session: GatewaySession | undefined;
  /** Goes on where everybody begins: the session's own address does not answer. */
  useDefaultUrl: boolean;
  /** Waits until a new session may be begun, or throws. */
  waitToIdentify(left: number, resetAfter: number, signal: AbortSignal): Promise<void>;
  ready(data: GatewayReadyDispatchData): void;
  resumed(): void;
  /** A sign of life. */
  heartbeat(): void;
  event(payload: GatewayDispatchPayload): void;
}

/** How a connection ended; no session: the next one begins anew. */
export interface GatewayClosure {
  code: number;
  session: GatewaySession | undefined;
  /** Discord said hello: there was somebody. */
  receivedHello: boolean;
}

/** Not 1000 or 1001, which would end the session. */
const LEAVE_CLOSE_CODE = 4200;
/** What the manager calls an end of its own that loses the session. */
const NEW_SESSION_CLOSE_CODE = 1000;

/** Connects, and resolves when the connection has ended. Ends it when `signal` aborts. */
export async function connect(options: GatewayOptions, signal: AbortSignal): Promise<GatewayClosure> {
  const { WebSocketManager } = await import("@discordjs/ws");
  const { token, rest, intents, session, waitToIdentify } = options;
  const ended = Promise.withResolvers<GatewayClosure>();
  const leaving = new AbortController();
  let sessionInfo = session && {
    sessionId: session.id,
    resumeURL: session.url,
    sequence: session.seq,
    shardId: 0,
    shardCount: 1,
  };
  let hasEnded = false;
  let receivedHello = false;

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
    retrieveSessionInfo: () => (hasEnded ? never() : (sessionInfo ?? null)),
    updateSessionInfo(_, next) {
      if (!hasEnded) sessionInfo = next ?? undefined;
    },
    buildIdentifyThrottler: () => ({
      async waitForIdentify() {
        try {
          const { session_start_limit: limit } = await manager.fetchGatewayInformation();
          await waitToIdentify(limit.remaining, limit.reset_after, leaving.signal);
        } catch (error) {
          finish(() => ended.reject(toChannelError(error, "bot")));
        }
        // An error here would make the manager identify all the same.
        if (hasEnded) await never();
      },
    }),
  });

  function finish(settle: () => void): void {
    if (hasEnded) return;
    hasEnded = true;
    settle();
    leaving.abort();
    if (receivedHello) leave();
  }
  /** Never waited for: who is silent does not say goodbye. */
  const leave = () => {
    Promise.resolve(manager.destroy({ code: LEAVE_CLOSE_CODE, reason: "Leaving" })).catch(() => undefined);
  };

  const end = (code: number) =>
    finish(() => {
      const left = sessionInfo && { id: sessionInfo.sessionId, url: sessionInfo.resumeURL, seq: sessionInfo.sequence };
      ended.resolve({ code, session: left, receivedHello });
    });
  type Events = Parameters<typeof manager.on>[0];
  const on = (event: string, listener: (data: never) => void) => manager.on(event as Events, listener as never);
  on("hello", () => {
    receivedHello = true;
    // It was ended while it was not yet open.
    if (hasEnded) leave();
  });
  on("ready", ({ data }: { data: GatewayReadyDispatchData }) => !hasEnded && options.ready(data));
  on("resumed", () => !hasEnded && options.resumed());
  on("heartbeat", () => !hasEnded && options.heartbeat());
  on("dispatch", ({ data }: { data: GatewayDispatchPayload }) => !hasEnded && options.event(data));
  on("closed", ({ code }: { code: number }) => end(code));
  // What an error means, the close that follows tells.
  on("error", () => undefined);

  async function open(): Promise<void> {
    if (sessionInfo && options.useDefaultUrl)
      sessionInfo = { ...sessionInfo, resumeURL: (await manager.fetchGatewayInformation()).url };
    await manager.connect();
  }

  const abort = () => end(LEAVE_CLOSE_CODE);
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
export const isRoutineClosure = ({ code }: GatewayClosure) =>
  code === LEAVE_CLOSE_CODE || code === NEW_SESSION_CLOSE_CODE;

const never = () => new Promise<never>(() => undefined);
