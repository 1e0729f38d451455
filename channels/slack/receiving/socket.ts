// Holds one Socket Mode connection over Bun's WebSocket. The official client closes a connection before it opens the next
// one, which leaves a gap with each of Slack's regular warnings, and needs parts of undici that Bun does not have.
// https://docs.slack.dev/apis/events-api/using-socket-mode
import { SECOND } from "../../../src/kernel/util/time.ts";
import { ChannelError } from "../../port.ts";
import { isObject } from "../../shared/is-object.ts";

/** What Slack sends over a connection, to be confirmed by its id. */
export interface Envelope {
  id: string;
  /** `events_api`, `interactive` or `slash_commands`. */
  type: string;
  payload: unknown;
  bytes: number;
}

/** `replace`: Slack closes this connection soon, and another one should be open before. */
export type Ending = { kind: "replace" } | { kind: "closed"; reason: ChannelError };

export interface Socket {
  /** Resolves with the first sign that the connection ends. */
  readonly ending: Promise<Ending>;
  readonly closed: Promise<void>;
  /** Tells Slack that an envelope is dealt with; false if the connection is gone, and Slack will send it again. */
  confirm(id: string): boolean;
  close(): void;
}

interface Options {
  /** From `apps.connections.open`; it works once. */
  url: string;
  receive(envelope: Envelope, socket: Socket): void;
  reportAlive(): void;
  signal: AbortSignal;
}

const HELLO_TIMEOUT_MS = 10 * SECOND;
const PING_INTERVAL_MS = 30 * SECOND;

/** Bun's own events and verbs, which browsers lack. */
interface PingingSocket extends WebSocket {
  ping(): void;
  terminate(): void;
}

/** Resolves once Slack has greeted. Throws ChannelError. */
export function openSocket({ url, receive, reportAlive, signal }: Options): Promise<Socket> {
  const opened = Promise.withResolvers<Socket>();
  const ending = Promise.withResolvers<Ending>();
  const closed = Promise.withResolvers<void>();
  const web = new WebSocket(url) as PingingSocket;
  const helloTimer = setTimeout(() => end("Slack did not greet in time."), HELLO_TIMEOUT_MS);
  let pingTimer: Timer | undefined;
  let hasEnded = false;

  const socket: Socket = {
    ending: ending.promise,
    closed: closed.promise,
    confirm(id) {
      if (web.readyState !== WebSocket.OPEN) return false;
      web.send(JSON.stringify({ envelope_id: id }));
      return true;
    },
    close: () => end("Berth closed the connection."),
  };

  function end(text: string, kind: "unreachable" | "conflict" = "unreachable"): void {
    if (hasEnded) return;
    hasEnded = true;
    clearTimeout(helloTimer);
    clearInterval(pingTimer);
    signal.removeEventListener("abort", abort);
    const reason = new ChannelError(kind, text, "bot");
    ending.resolve({ kind: "closed", reason });
    opened.reject(reason);
    closed.resolve();
    // Without waiting: a silent peer does not confirm.
    web.terminate();
  }
  const abort = () => end("Stopped.");

  function greet(): void {
    clearTimeout(helloTimer);
    pingTimer ??= setInterval(() => web.ping(), PING_INTERVAL_MS);
    reportAlive();
    opened.resolve(socket);
  }

  function disconnect(reason: unknown): void {
    if (reason === "link_disabled") {
      end("Socket Mode is switched off for this app. Switch it on in Slack's settings of the app.");
    }
    if (reason === "too_many_websockets") end("Too many programs receive with this Slack app.", "conflict");
    // `warning` and `refresh_requested` come some seconds before Slack closes.
    ending.resolve({ kind: "replace" });
  }

  web.addEventListener("message", ({ data }: MessageEvent) => {
    if (hasEnded || typeof data !== "string") return;
    const message = parse(data);
    if (message?.type === "hello") return greet();
    if (message?.type === "disconnect") return disconnect(message.reason);
    const { envelope_id: id, type, payload } = message ?? {};
    if (typeof id !== "string" || typeof type !== "string") return;
    receive({ id, type, payload, bytes: data.length }, socket);
  });
  for (const event of ["ping", "pong"]) web.addEventListener(event, () => !hasEnded && reportAlive());
  web.addEventListener("close", () => end("The connection to Slack was closed."));
  web.addEventListener("error", () => end("The connection to Slack failed."));
  signal.addEventListener("abort", abort, { once: true });
  if (signal.aborted) abort();
  return opened.promise;
}

function parse(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
