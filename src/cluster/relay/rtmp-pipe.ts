// Sends live video that comes to this node on to the owner: a connection of TCP each, byte for byte.
import { createConnection, createServer, type Server, type Socket } from "node:net";
import { pipeline } from "node:stream";
import type { Log } from "../../kernel/telemetry/log.ts";
import { watchDepartures } from "./departures.ts";

export interface RtmpPipeDeps {
  host: string;
  port: number;
  /** Where the owner listens; undefined without one. Asked for each connection, and while there are any. */
  target(): { host: string; port: number } | undefined;
  log: Pick<Log, "debug" | "warn">;
}

export interface RtmpPipe {
  /** Listens, if it does not yet. A port in use is a warning: without it this node only takes no video. */
  open(): Promise<void>;
  /** Ends all connections, so that the port is free when it resolves. */
  close(): Promise<void>;
}

const MAX_CONNECTIONS = 1_000;
const CONNECT_TIMEOUT_MS = 5_000;
const KEEP_ALIVE_MS = 30_000;
/** The pipe is that of one cell. */
const ANY_CELL = 0;

const addressOf = ({ host, port }: { host: string; port: number }) => `${host}:${port}`;

export function createRtmpPipe({ host, port, target, log }: RtmpPipeDeps): RtmpPipe {
  const sockets = new Set<Socket>();
  let server: Server | undefined;
  const departures = watchDepartures({
    placeOf() {
      const place = target();
      return place && { kind: "node", address: addressOf(place) };
    },
    changed: (ms) => Bun.sleep(ms),
  });

  function join(client: Socket): void {
    const place = sockets.size < MAX_CONNECTIONS * 2 ? target() : undefined;
    client.on("error", (error) => log.debug("a connection with video ended", { error }));
    if (!place) {
      client.destroy();
      return;
    }
    const owner = createConnection({ ...place, timeout: CONNECT_TIMEOUT_MS, allowHalfOpen: true });
    const end = () => {
      client.destroy();
      owner.destroy();
    };
    // A machine that has lost its power closes no connection.
    const departure = departures.watch(ANY_CELL, addressOf(place));
    departure.gone.addEventListener("abort", end);
    for (const socket of [client, owner]) {
      sockets.add(socket);
      socket.setKeepAlive(true, KEEP_ALIVE_MS);
      socket.on("close", () => sockets.delete(socket));
    }
    owner.on("error", end).on("timeout", end).on("close", departure.end);
    owner.once("connect", () => {
      owner.setTimeout(0);
      // One side may end before the other; a failure ends both.
      pipeline(client, owner, (error) => error && end());
      pipeline(owner, client, (error) => error && end());
    });
  }

  return {
    open: () =>
      new Promise((resolve) => {
        if (server) return resolve();
        const opened = createServer({ allowHalfOpen: true }, join);
        server = opened;
        opened.once("error", (error) => {
          log.warn("this node takes no live video for the owner", { port, error });
          server = undefined;
          resolve();
        });
        opened.listen({ host, port }, resolve);
      }),
    close: () =>
      new Promise((resolve) => {
        const closing = server;
        server = undefined;
        for (const socket of sockets) socket.destroy();
        if (!closing) return resolve();
        closing.close(() => resolve());
      }),
  };
}
