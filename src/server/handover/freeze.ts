// Makes requests wait in the system: the event loop no longer reads from these ports' listeners and idle connections. Connections with a
// response under way still write it.
import { EPOLLIN, EPOLLOUT, type Poll, type Socket, type System } from "./system.ts";

export interface Freeze {
  /** Holds what has become idle since. */
  again(): void;
  /** Reads on. */
  end(): void;
  /** All sockets of the ports. */
  sockets(): Socket[];
}

export function freeze(system: System, ports: ReadonlySet<number>): Freeze {
  const held = new Map<number, Poll>();

  function again(): void {
    for (const { descriptor, poll } of system.sockets(ports)) {
      // The loop waits until it can write: it sets both events itself, once it has written.
      if ((poll.events & EPOLLIN) === 0 || (poll.events & EPOLLOUT) !== 0) continue;
      if (system.watch(descriptor, { ...poll, events: poll.events & ~EPOLLIN })) held.set(descriptor, poll);
    }
  }

  again();
  return {
    again,
    end() {
      for (const { descriptor, poll } of system.sockets(ports)) {
        const before = held.get(descriptor);
        if (before?.data === poll.data && (poll.events & (EPOLLIN | EPOLLOUT)) === 0) system.watch(descriptor, before);
      }
      held.clear();
    },
    sockets: () => system.sockets(ports),
  };
}
