// The types of WebSocket endpoints: a route accepts or refuses an upgrade, and its session handles the socket.
import type { Server, ServerWebSocket } from "bun";

/** A WebSocket endpoint of the web surface. */
export interface SocketRoute {
  /** The path up to its variable part, such as `/agent/`. */
  prefix: string;
  /**
   * Makes the session of one socket, before the upgrade; `suffix` is the path after `prefix`. A caller who may not
   * connect gets a session too, which closes its socket with a code when it opens.
   */
  accept(request: Request, suffix: string): Promise<SocketSession>;
}

export interface SocketSession {
  /** The subprotocol to confirm. */
  protocol?: string;
  /** The connection's other end, which the surface notes. */
  peer?: { address: string; port: number } | undefined;
  open(socket: ServerWebSocket<SocketSession>): void;
  message(socket: ServerWebSocket<SocketSession>, data: string | Buffer): void;
  close(socket: ServerWebSocket<SocketSession>, code: number): void;
}

export type WebServer = Server<SocketSession>;
