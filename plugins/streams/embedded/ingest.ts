// Where publishers connect: the RTMP port, with bounds on who comes, and nothing a stranger sends can hurt.
import type { Socket, TCPSocketListener } from "bun";
import type { Log } from "../../../src/log.ts";
import { createDoor } from "./door.ts";
import { createPublisher, type Publisher, type Wire } from "./publisher.ts";
import type { Studio } from "./studio.ts";

export interface Ingest {
  readonly port: number;
  /** Closes the port and all connections. */
  close(): void;
}

interface Visitor {
  readonly address: string;
  readonly publisher: Publisher;
  /** Counted at the door until it is let in, or goes. */
  isWaiting: boolean;
}

const TICK_MS = 1_000;

/** Throws when the port can't be had. */
export function listen(options: { host: string; port: number; studio: Studio; log: Log }): Ingest {
  const { host, port, studio, log } = options;
  const door = createDoor();
  const visitors = new Map<Socket<undefined>, Visitor>();
  let timer: Timer | undefined;

  function tick(): void {
    const now = Date.now();
    for (const visitor of visitors.values()) {
      if (visitor.isWaiting && visitor.publisher.isLive) welcome(visitor);
      visitor.publisher.tick(now);
    }
    door.tick(now);
    if (visitors.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  }

  function welcome(visitor: Visitor): void {
    visitor.isWaiting = false;
    door.leave(visitor.address, true);
  }

  function open(socket: Socket<undefined>): void {
    const address = socket.remoteAddress;
    // One that comes too often is not worth a line each time.
    if (!door.enter(address)) return void socket.terminate();
    const wire = wireOf(socket);
    const refused = (why: string) => log.debug("a publisher was refused", { address, why });
    const publisher: Publisher = createPublisher(
      wire,
      studio.eventsFor(() => publisher, refused),
    );
    visitors.set(socket, { address, publisher, isWaiting: true });
    timer ??= setInterval(tick, TICK_MS);
  }

  function gone(socket: Socket<undefined>): void {
    const visitor = visitors.get(socket);
    if (!visitor) return;
    visitors.delete(socket);
    const { publisher, address, isWaiting } = visitor;
    // Who was let in and went within a second counts as one who tries.
    if (isWaiting) door.leave(address, false);
    publisher.gone();
  }

  const listener: TCPSocketListener<undefined> = Bun.listen<undefined>({
    hostname: host,
    port,
    exclusive: true,
    socket: {
      open,
      data: (socket, bytes) => visitors.get(socket)?.publisher.read(bytes),
      close: gone,
      end: (socket) => void socket.end(),
      error: (socket) => gone(socket),
    },
  });

  return {
    port: listener.port,
    close() {
      clearInterval(timer);
      listener.stop(true);
      for (const socket of [...visitors.keys()]) gone(socket);
    },
  };
}

const wireOf = (socket: Socket<undefined>): Wire => ({
  // All that publishers are told fits into what the system holds for a socket; one that takes nothing is not listening.
  send: (bytes) => socket.write(bytes) === bytes.length,
  pause: () => socket.pause(),
  resume: () => socket.resume(),
  end: () => void socket.end(),
  cut: () => void socket.terminate(),
});
