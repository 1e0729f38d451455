// Listens with an app's tokens: opens a connection, and another one beside it before Slack closes the first.

import { setTimeout as sleep } from "node:timers/promises";
import { SECOND } from "../../../src/kernel/util/time.ts";
import { type Binding, ChannelError, type Sink } from "../../port.ts";
import { asBot } from "../bot.ts";
import { readTokens } from "../credentials.ts";
import { toChannelError, withChannelErrors } from "../errors.ts";
import { createEventQueue, type EventQueueDeps } from "./event-queue.ts";
import { openSocket, type Socket } from "./socket.ts";

/** How long a connection that was replaced may still deliver; Slack closes it itself within about 10 s. */
const RETIREMENT_MS = 15 * SECOND;
const REPLACE_INTERVAL_MS = 2 * SECOND;

interface Deps extends EventQueueDeps {
  /** Whether connections may be unencrypted, as on this machine. */
  allowsPlainSockets: boolean;
}

export function createListener(deps: Deps) {
  const { api, allowsPlainSockets } = deps;

  /** Asks for the address of a connection, which works once. */
  async function requestAddress({ token, bot, agentId }: Binding, signal: AbortSignal): Promise<string> {
    const caller = { token: readTokens(token).appToken, bot: bot.id, agentId };
    const { url } = await api.call(caller, "apps.connections.open", {}, signal);
    const protocols = allowsPlainSockets ? ["wss:", "ws:"] : ["wss:"];
    if (typeof url === "string" && URL.canParse(url) && protocols.includes(new URL(url).protocol)) return url;
    throw new ChannelError("unreachable", "Slack gave no address for the connection.", "bot");
  }

  return async function listen(binding: Binding, sink: Sink, signal: AbortSignal): Promise<void> {
    const stop = new AbortController();
    const abort = () => stop.abort();
    signal.addEventListener("abort", abort, { once: true });
    if (signal.aborted) return;
    const queue = createEventQueue(deps, binding, sink, stop);
    const retired = new Set<Socket>();

    const connect = async (): Promise<Socket> =>
      openSocket({
        url: await requestAddress(binding, stop.signal),
        receive: (envelope, socket) => queue.enqueue(envelope, () => socket.confirm(envelope.id)),
        reportAlive: sink.reportAlive,
        signal: stop.signal,
      });

    /** Opens the next connection while the old one still works; throws only once that has closed. */
    async function connectBeside(old: Socket): Promise<Socket> {
      let isClosed = false;
      const closed = old.closed.then(() => {
        isClosed = true;
      });
      for (;;) {
        try {
          return await connect();
        } catch (error) {
          if (isClosed || stop.signal.aborted || toChannelError(error, "bot").kind === "refused") throw error;
          await Promise.race([closed, sleep(REPLACE_INTERVAL_MS, undefined, { ref: false })]);
        }
      }
    }

    /** Closes a replaced connection when Slack does not, after its messages were confirmed. */
    function retire(socket: Socket): void {
      retired.add(socket);
      Promise.race([socket.closed, sleep(RETIREMENT_MS, undefined, { ref: false, signal: stop.signal })])
        .then(() => queue.drain())
        .catch(() => undefined)
        .finally(() => {
          socket.close();
          retired.delete(socket);
        });
    }

    async function hold(): Promise<void> {
      // The bot token is only used for answers, so a revoked one would be noticed late.
      await api.call(asBot(binding), "auth.test", {}, stop.signal);
      let socket = await connect();
      queue.start();
      for (;;) {
        const ending = await socket.ending;
        if (stop.signal.aborted) return;
        if (ending.kind === "closed") throw ending.reason;
        const next = await connectBeside(socket);
        retire(socket);
        socket = next;
      }
    }

    try {
      await withChannelErrors("bot", hold);
      const failure = queue.failure();
      if (failure && !signal.aborted) throw failure;
    } catch (error) {
      if (signal.aborted) return;
      throw queue.failure() ?? error;
    } finally {
      signal.removeEventListener("abort", abort);
      stop.abort();
      await queue.drain();
    }
  };
}
