// Holds one connection to the gateway by discord.js's manager, and ends when it closes. The listener decides about the
// next one: the manager alone would reconnect every half second and lose the session after a network failure.
import type { GatewayDispatchPayload, GatewayReadyDispatchData, REST } from "discord.js";
import { ChannelError } from "../../port.ts";
import { toChannelError } from "../errors.ts";

/** The state from which a closed connection can be resumed. */
export interface GatewaySession {
  id: string;
  url: string;
  /** The sequence number of the last event. */
  seq: number;
}

export interface GatewayOptions {
  token: string;
  rest: REST;
  intents: number;
  session: GatewaySession | undefined;
  /** Resumes at the gateway's general address, because that of the session does not answer. */
  useDefaultUrl: boolean;
  /** Waits until a new session may start, or throws. */
  waitToIdentify(left: number, resetAfter: number, signal: AbortSignal): Promise<void>;
  ready(data: GatewayReadyDispatchData): void;
  resumed(): void;
  heartbeat(): void;
  event(payload: GatewayDispatchPayload): void;
}

/** How a connection ended. Without a session the next connection starts a new one. */
export interface GatewayClosure {
  code: number;
  session: GatewaySession | undefined;
  /** Discord sent its hello, so the address answers. */
  receivedHello: boolean;
}

/** Not 1000 or 1001, which would end the session. */
const LEAVE_CLOSE_CODE = 4200;
/** The manager's code for a close that loses the session. */
const NEW_SESSION_CLOSE_CODE = 1000;

/** Connects and resolves when the connection has closed; closes it when `signal` aborts. Throws ChannelError. */
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
    // The caller watches for silence.
    helloTimeout: null,
    readyTimeout: null,
    // The manager calls this before it would reconnect, which must not happen.
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
        // If this threw, the manager would identify all the same.
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
  /** Closes without waiting: a silent gateway does not confirm. */
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
    // The connection was ended before it was open.
    if (hasEnded) leave();
  });
  on("ready", ({ data }: { data: GatewayReadyDispatchData }) => !hasEnded && options.ready(data));
  on("resumed", () => !hasEnded && options.resumed());
  on("heartbeat", () => !hasEnded && options.heartbeat());
  on("dispatch", ({ data }: { data: GatewayDispatchPayload }) => !hasEnded && options.event(data));
  on("closed", ({ code }: { code: number }) => end(code));
  // The close that follows tells what an error means.
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

/** Whether Discord or Berth asked for a new connection, as happens regularly. */
export const isRoutineClosure = ({ code }: GatewayClosure) =>
  code === LEAVE_CLOSE_CODE || code === NEW_SESSION_CLOSE_CODE;

const never = () => new Promise<never>(() => undefined);
