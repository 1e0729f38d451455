// Closes the socket to a server of NATS that is not there any more. The library waits until all that it has written has left the socket,
// which for more than the socket's buffer takes until the system gives up: a quarter of an hour.
import type { NatsConnection } from "@nats-io/transport-node";

/** For what has been written to leave the socket, once the library wants to be rid of it. */
const FLUSH_MS = 1_000;

/** What the library's public type leaves out. */
interface WithTransport {
  protocol?: { transport?: { close(): Promise<void> } };
}

/** Watches the connection until it is closed. */
export async function closeHangingSockets(connection: Pick<NatsConnection, "status">): Promise<void> {
  let timer: Timer | undefined;
  for await (const { type } of connection.status()) {
    if (type === "staleConnection" || type === "forceReconnect") {
      const transport = (connection as WithTransport).protocol?.transport;
      clearTimeout(timer);
      timer = setTimeout(() => void transport?.close(), FLUSH_MS);
    } else if (type === "disconnect" || type === "close") clearTimeout(timer);
  }
}
