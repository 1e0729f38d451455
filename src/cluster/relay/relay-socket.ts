// Joins a client's WebSocket with one to the node that owns the cell, frame by frame.
import type { ServerWebSocket } from "bun";
import type { SocketSession, WebServer } from "../../kernel/http/web-sockets.ts";
import type { Departure } from "./departures.ts";
import { RELAY_HEADER, type RelayGrant, type RelayGrants, requestLine } from "./grants.ts";

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

/** Resolves with `upgraded` when the client's socket is open, and with `again` if the node did not take it. */
export async function relaySocket({
  request,
  server,
  node,
  grants,
  grant,
  departure,
}: SocketRelay): Promise<"upgraded" | "again"> {
  const line = requestLine("GET", request.url);
  const headers: Record<string, string> = { host: request.headers.get("host") ?? new URL(node).host };
  for (const [name, value] of request.headers) if (!OWN_HEADERS.test(name)) headers[name] = value;
  headers[RELAY_HEADER] = grants.sign(grant, node, line);
  const offered = request.headers.get("sec-websocket-protocol");
  const protocols = offered?.split(",").map((one) => one.trim()) ?? [];
  const upstream = new WebSocket(`${node.replace(/^http/, "ws")}${line.slice("GET ".length)}`, {
    headers,
    ...(protocols.length > 0 && { protocols }),
  } as never);
  upstream.binaryType = "nodebuffer" as never;

  /** What the owner sends before the client's socket is open. */
  const early: (string | Buffer)[] = [];
  let client: ServerWebSocket<SocketSession> | undefined;
  let closed: { code: number; reason: string } | undefined;
  const opened = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => opened.resolve(false), OPEN_TIMEOUT_MS);
  upstream.onopen = () => opened.resolve(true);
  upstream.onerror = () => opened.resolve(false);
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
    departure.end();
    opened.resolve(false);
    closed = { code: isSendable(code) ? code : 1012, reason };
    client?.close(closed.code, closed.reason);
  };

  function closeBoth(code: number, reason: string): void {
    upstream.close(isSendable(code) ? code : 1000, reason);
    client?.close(isSendable(code) ? code : 1000, reason);
  }

  departure.gone.addEventListener("abort", () => {
    opened.resolve(false);
    departure.end();
    // The upstream is silent, so its end is not waited for.
    client?.close(1012, "The service has moved. Connect again.");
    upstream.terminate();
  });

  const isOpen = await opened.promise;
  clearTimeout(timer);
  if (!isOpen) {
    departure.end();
    upstream.close();
    return "again";
  }
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
  if (!isUpgraded) {
    departure.end();
    upstream.close();
  }
  return isUpgraded ? "upgraded" : "again";
}
