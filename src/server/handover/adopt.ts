// Gives a listener of Bun, and connections to it, the sockets that the program before has left.
//
// Bun can only listen on a port that it binds itself. So it binds a free one on 127.0.0.1, the system puts the inherited socket in the place of that
// descriptor (dup2), and the event loop watches it under the same number. Connections come to be in the same way: each takes the place of one that this
// process makes to itself. Requests that were sent meanwhile are in the sockets, and are read now.
import type { Server } from "bun";
import { StartError } from "../../kernel/errors.ts";
import type { SocketSession } from "../../kernel/http/web-sockets.ts";
import type { InheritedListener } from "./inherited.ts";
import { openSystem, peerKey, type System } from "./system.ts";

/** As many as the queue of the free port holds. */
const BATCH = 200;
const MAX_TURNS = 2_000;

export async function adopt(server: Server<SocketSession>, inherited: InheritedListener): Promise<void> {
  const system = await openSystem();
  const ports = new Set([server.port ?? 0]);
  const listener = system?.sockets(ports).find(({ peer }) => peer === undefined);
  if (!system || !listener) throw new StartError(`The listener of ${inherited.name} could not be taken over.`);
  system.acceptSilent(listener.descriptor);
  for (let at = 0; at < inherited.connections.length; at += BATCH)
    await adoptConnections(system, ports, inherited.connections.slice(at, at + BATCH));
  if (!system.replace(listener, inherited.listening))
    throw new StartError(`The listener of ${inherited.name} could not be taken over.`);
}

/** One that can't be taken over is closed. */
async function adoptConnections(
  system: System,
  ports: ReadonlySet<number>,
  connections: readonly number[],
): Promise<void> {
  const [port = 0] = ports;
  const waiting = new Map(
    connections.map((inherited) => {
      const own = system.connect(port);
      return [peerKey("127.0.0.1", own.port), { inherited, own: own.descriptor }];
    }),
  );
  for (let turn = 0; waiting.size > 0 && turn < MAX_TURNS; turn++) {
    await new Promise<void>((resolve) => setImmediate(resolve));
    for (const socket of system.sockets(ports)) {
      const pair = socket.peer === undefined ? undefined : waiting.get(socket.peer);
      if (!pair || socket.peer === undefined) continue;
      waiting.delete(socket.peer);
      system.replace(socket, pair.inherited);
      system.close(pair.own);
    }
  }
  for (const { inherited, own } of waiting.values()) for (const one of [inherited, own]) system.close(one);
}
