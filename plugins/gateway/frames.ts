// The frames of the gateway: JSON objects with a type, sent no faster than they are read.
import type { ServerWebSocket } from "bun";
import { parseJson, type SocketSession } from "../../src/kernel/http/http.ts";

export type Socket = ServerWebSocket<SocketSession>;

export interface Frame {
  type?: unknown;
  id?: unknown;
  message?: unknown;
  sessionId?: unknown;
}

/** Closes a socket of who comes, or sends, too much: the right may be good, and another time it will be let in. */
export const CLOSE_TOO_MANY = 4429;

/** Bytes that may wait for a slow reader; until they are taken, no more of a reply is read. */
const MAX_BUFFERED = 1024 * 1024;
/** Milliseconds for which a reader may take nothing, and between two looks. */
const DRAIN_TIMEOUT = 30_000;
const DRAIN_POLL = 20;

export const send = (socket: Socket, frame: object) => void socket.send(JSON.stringify(frame));

/** For what nobody waits for: left out where the reader is behind. */
export function sendUnlessBehind(socket: Socket, frame: object): void {
  if (socket.getBufferedAmount() <= MAX_BUFFERED) send(socket, frame);
}

export const sendError = (socket: Socket, id: unknown, error: string, code: string) =>
  send(socket, { type: "error", id: id ?? null, error, message: error, code });

/** For who sends too much; where the reader is behind, the close frame would only wait with the rest. */
export const closeTooMany = (socket: Socket, reason: string) =>
  socket.getBufferedAmount() > 0 ? socket.terminate() : socket.close(CLOSE_TOO_MANY, reason);

/** A reader so far behind that even a close frame would wait. */
export const isUnresponsive = (socket: Socket) => socket.getBufferedAmount() > 2 * MAX_BUFFERED;

/** Resolves once the reader has taken enough of what it was sent; one that takes nothing for long is let go. */
export async function waitUntilDrained(socket: Socket): Promise<void> {
  for (let waited = 0; socket.getBufferedAmount() > MAX_BUFFERED; waited += DRAIN_POLL) {
    if (waited >= DRAIN_TIMEOUT) return socket.terminate();
    await Bun.sleep(DRAIN_POLL);
  }
}

export function readFrame(data: string | Buffer): Frame | undefined {
  try {
    const frame = parseJson(data.toString());
    return typeof frame === "object" && frame !== null && !Array.isArray(frame) ? frame : undefined;
  } catch {
    // What is not JSON is answered as such.
    return undefined;
  }
}
