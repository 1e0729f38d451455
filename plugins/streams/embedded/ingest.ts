// Listens on the RTMP port: limits new connections and gives each accepted one to a publisher.
import type { Socket, TCPSocketListener } from "bun";
import type { Log } from "../../../src/kernel/telemetry/log.ts";
import { SECOND } from "../../../src/kernel/util/time.ts";
import type { Broadcasts } from "./broadcasts.ts";
import { createConnectionLimiter } from "./connection-limiter.ts";
import { createPublisher, type Publisher, type Transport } from "./publisher.ts";

export interface Ingest {
  readonly port: number;
  /** Closes the port and disconnects all publishers. */
  close(): void;
}

interface Connection {
  readonly address: string;
  readonly publisher: Publisher;
  /** Whether the connection limiter still counts it: until it is admitted or closed. */
  isPending: boolean;
}

const TICK_MS = SECOND;

/** Throws if the port can't be opened. */
export function listen(options: {
  host: string;
  port: number;
  broadcasts: Pick<Broadcasts, "publisherEventsFor">;
  log: Log;
}): Ingest {
  const { host, port, broadcasts, log } = options;
  const limiter = createConnectionLimiter();
  const connections = new Map<Socket<undefined>, Connection>();
  let timer: Timer | undefined;

  function tick(): void {
    const now = Date.now();
    for (const connection of connections.values()) {
      if (connection.isPending && connection.publisher.isLive) markAdmitted(connection);
      connection.publisher.tick(now);
    }
    limiter.removeExpired(now);
    if (connections.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  }

  function markAdmitted(connection: Connection): void {
    connection.isPending = false;
    limiter.release(connection.address, true);
  }

  function open(socket: Socket<undefined>): void {
    const address = socket.remoteAddress;
    // Not logged: a flood of connections must not fill the log.
    if (!limiter.tryAcquire(address)) return void socket.terminate();
    const transport = transportOf(socket);
    const onRefused = (reason: string) => log.debug("A publisher was refused.", { address, reason });
    const publisher: Publisher = createPublisher(
      transport,
      broadcasts.publisherEventsFor(() => publisher, onRefused),
    );
    connections.set(socket, { address, publisher, isPending: true });
    timer ??= setInterval(tick, TICK_MS);
  }

  function onClose(socket: Socket<undefined>): void {
    const connection = connections.get(socket);
    if (!connection) return;
    connections.delete(socket);
    const { publisher, address, isPending } = connection;
    // Admission is noticed by the next tick, so a publisher that leaves within a second counts as a failed attempt.
    if (isPending) limiter.release(address, false);
    publisher.onDisconnected();
  }

  const listener: TCPSocketListener<undefined> = Bun.listen<undefined>({
    hostname: host,
    port,
    exclusive: true,
    socket: {
      open,
      data: (socket, bytes) => connections.get(socket)?.publisher.read(bytes),
      close: onClose,
      end: (socket) => void socket.end(),
      error: (socket) => onClose(socket),
    },
  });

  return {
    port: listener.port,
    close() {
      clearInterval(timer);
      listener.stop(true);
      for (const socket of [...connections.keys()]) onClose(socket);
    },
  };
}

const transportOf = (socket: Socket<undefined>): Transport => ({
  // Everything sent to a publisher fits into the socket's send buffer; a partial write means that it does not read.
  send: (bytes) => socket.write(bytes) === bytes.length,
  pause: () => socket.pause(),
  resume: () => socket.resume(),
  end: () => void socket.end(),
  terminate: () => void socket.terminate(),
});
