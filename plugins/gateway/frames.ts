// Reads and sends the frames of the gateway, which are JSON objects with a type, and waits for slow readers.
import type { ServerWebSocket } from "bun";
import { parseJson } from "../../src/kernel/http/body/json-body.ts";
import type { SocketSession } from "../../src/kernel/http/web-sockets.ts";

export type Socket = ServerWebSocket<SocketSession>;

export interface Frame {
  type?: unknown;
  id?: unknown;
  message?: unknown;
  sessionId?: unknown;
}

/** The close code past a rate limit: the client may try again later. */
export const CLOSE_TOO_MANY = 4429;

/** Bytes that are buffered for a slow reader; beyond, no more of a reply is read. */
const MAX_BUFFERED = 1024 * 1024;
/** Milliseconds after which a reader that does not catch up is disconnected, and between two checks. */
const DRAIN_TIMEOUT = 30_000;
const DRAIN_POLL = 20;

export const send = (socket: Socket, frame: object) => void socket.send(JSON.stringify(frame));

/** Sends a frame that the client did not request; skipped when the reader is behind. */
export function sendUnlessBehind(socket: Socket, frame: object): void {
  if (socket.getBufferedAmount() <= MAX_BUFFERED) send(socket, frame);
}

export const sendError = (socket: Socket, id: unknown, error: string, code: string) =>
  send(socket, { type: "error", id: id ?? null, error, message: error, code });

/** Closes a socket past its limit; if the reader is behind, the close frame would wait too, so the connection is ended. */
export const closeTooMany = (socket: Socket, reason: string) =>
  socket.getBufferedAmount() > 0 ? socket.terminate() : socket.close(CLOSE_TOO_MANY, reason);

/** Whether the reader is so far behind that even a close frame would wait. */
export const isUnresponsive = (socket: Socket) => socket.getBufferedAmount() > 2 * MAX_BUFFERED;

/** Resolves once the reader has caught up; ends the connection of one that does not within the time limit. */
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
    // The caller answers with an error.
    return undefined;
  }
}
