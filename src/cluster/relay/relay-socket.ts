// Joins a client's WebSocket with one to the node that owns the cell, frame by frame.
import type { ServerWebSocket } from "bun";
import { FORWARDING_HEADER } from "../../kernel/cells/forwarding.ts";
import { AppError } from "../../kernel/errors.ts";
import type { SocketSession, WebServer } from "../../kernel/http/web-sockets.ts";
import type { Departure } from "./departures.ts";
import { failure } from "./failure.ts";
import { RELAY_HEADER, type RelayGrant, type RelayGrants, requestLine } from "./grants.ts";
import { receive } from "./relay.ts";

export interface SocketRelay {
  request: Request;
  server: WebServer;
  node: string;
  grants: RelayGrants;
  grant: RelayGrant;
  /** Of the cell from the node: it closes both sides, since a machine that has lost its power closes none. */
  departure: Departure;
}

/** Bytes that may wait for a slow peer before both sides are closed. */
const MAX_WAITING_BYTES = 4 * 1024 * 1024;
const OPEN_TIMEOUT_MS = 5_000;
/** RFC 6455, section 7.4.1. Codes that may be sent; others say how a connection ended, and are never sent. */
const isSendable = (code: number) => code === 1000 || (code >= 1007 && code <= 1014) || (code >= 3000 && code <= 4999);

const OWN_HEADERS = /^(?:connection|upgrade|sec-websocket-(?:key|version|extensions|protocol)|host|content-length)$/;

/** Whether a request wants to become a WebSocket (RFC 6455, section 4.1). */
export const isSocket = ({ method, headers }: Request) =>
  method === "GET" && headers.get("upgrade")?.toLowerCase() === "websocket";

/**
 * Resolves with `upgraded` when the client's socket is open, with the node's response if it has answered otherwise, and with `again` if
 * it can't be reached. A response has a body that aborts with `departure`, which the caller ends then.
 */
export async function relaySocket(relay: SocketRelay): Promise<"upgraded" | "again" | Response> {
  const { request, server, node, grants, grant, departure } = relay;
  const line = requestLine("GET", request.url);
  const url = `${node}${line.slice("GET ".length)}`;
  const headers: Record<string, string> = { host: request.headers.get("host") ?? new URL(node).host };
  for (const [name, value] of request.headers) if (!OWN_HEADERS.test(name)) headers[name] = value;
  headers[RELAY_HEADER] = grants.sign(grant, node, line, { forwarding: request.headers.get(FORWARDING_HEADER) });
  const offered = request.headers.get("sec-websocket-protocol");
  const protocols = offered?.split(",").map((one) => one.trim()) ?? [];
  const upstream = new WebSocket(url.replace(/^http/, "ws"), {
    headers,
    ...(protocols.length > 0 && { protocols }),
  } as never);
  upstream.binaryType = "nodebuffer" as never;

  /** What the owner sends before the client's socket is open. */
  const early: (string | Buffer)[] = [];
  let client: ServerWebSocket<SocketSession> | undefined;
  let closed: { code: number; reason: string } | undefined;
  let isOpen = false;
  const opened = Promise.withResolvers<"open" | "refused" | "silent">();
  const timer = setTimeout(() => opened.resolve("silent"), OPEN_TIMEOUT_MS);
  upstream.onopen = () => opened.resolve("open");
  upstream.onerror = () => opened.resolve("refused");
  upstream.onmessage = ({ data }) => {
    if (!client) {
      early.push(data);
      return;
    }
    // It returns how many bytes it took, and an empty frame has none.
    const isDropped = client.send(data) === 0 && data.length > 0;
    if (isDropped || client.getBufferedAmount() > MAX_WAITING_BYTES) closeBoth(1013, "too slow");
  };
  upstream.onclose = ({ code, reason }) => {
    if (isOpen) departure.end();
    opened.resolve("refused");
    closed = { code: isSendable(code) ? code : 1012, reason };
    client?.close(closed.code, closed.reason);
  };

  function closeBoth(code: number, reason: string): void {
    upstream.close(isSendable(code) ? code : 1000, reason);
    client?.close(isSendable(code) ? code : 1000, reason);
  }

  departure.gone.addEventListener("abort", () => {
    opened.resolve("silent");
    if (isOpen) departure.end();
    // The upstream is silent, so its end is not waited for.
    client?.close(1012, "The service has moved. Connect again.");
    upstream.terminate();
  });

  const how = await opened.promise;
  clearTimeout(timer);
  if (how !== "open") {
    upstream.terminate();
    return how === "refused" ? askForResponse(relay, url, headers) : "again";
  }
  isOpen = true;
  const session: SocketSession = {
    ...(upstream.protocol && { protocol: upstream.protocol }),
    open(socket) {
      client = socket;
      for (const data of early.splice(0)) socket.send(data);
      if (closed) socket.close(closed.code, closed.reason);
    },
    message(_, data) {
      if (upstream.readyState !== WebSocket.OPEN) return;
      upstream.send(data);
      if (upstream.bufferedAmount > MAX_WAITING_BYTES) closeBoth(1013, "too slow");
    },
    close: (_, code) => upstream.close(isSendable(code) ? code : 1000),
  };
  // Without this header, Bun confirms the first protocol that the client offered, which may be a token.
  const isUpgraded = server.upgrade(request, {
    data: session,
    headers: { "sec-websocket-protocol": session.protocol ?? "" },
  });
  if (isUpgraded) return "upgraded";
  // It is no whole handshake, or the client has gone: the next attempt would end alike.
  upstream.close();
  return failure(new AppError(400, "UPGRADE_FAILED", "This is not a WebSocket request that can be accepted."));
}

/** A WebSocket that was refused does not show the response, so the handshake is sent once more as a request like any other. */
async function askForResponse(
  { request, departure }: SocketRelay,
  url: string,
  headers: Record<string, string>,
): Promise<"again" | Response> {
  const done = new AbortController();
  const offered = request.headers.get("sec-websocket-protocol");
  try {
    const response = await fetch(url, {
      headers: {
        ...headers,
        connection: "Upgrade",
        upgrade: "websocket",
        "sec-websocket-version": "13",
        "sec-websocket-key": crypto.getRandomValues(new Uint8Array(16)).toBase64(),
        ...(offered !== null && { "sec-websocket-protocol": offered }),
      },
      redirect: "manual",
      decompress: false,
      signal: AbortSignal.any([request.signal, departure.gone, done.signal]),
      timeout: false,
    } as BunFetchRequestInit);
    if (response.status !== 101) return await receive(response);
  } catch {
    return "again";
  }
  // It takes the socket now: the next attempt gets it.
  done.abort();
  return "again";
}
