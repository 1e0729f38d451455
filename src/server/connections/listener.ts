// Binds a port before the rest of the start, and serves /healthz until the surface is ready.
import type { Server } from "bun";
import { errorBody } from "../../kernel/error-body.ts";
import { StartError } from "../../kernel/errors.ts";
import { createRequestId } from "../../kernel/http/request-context.ts";
import type { Surface } from "../../kernel/http/surface.ts";
import type { SocketSession, WebServer } from "../../kernel/http/web-sockets.ts";
import type { InheritedListener, ListenerName } from "../handover/inherited.ts";

/** Seconds after which a connection without traffic is closed. Bun measures them in steps of four seconds. */
export interface IdleTimes {
  /** Before the head of a request is complete, however slowly its bytes arrive. */
  head: number;
  /** After a response. */
  idle: number;
  /** While a stream of events is silent, and after it. */
  stream: number;
}

/**
 * While a request is handled, there is no limit: routes and the reader of bodies have their own. The web's connections
 * outlast those of common proxies (60 seconds), which would otherwise send a request to a connection that is just being
 * closed. The backend's outlast those of a web surface in another process: Bun's `fetch` keeps one for 300 seconds. A turn
 * may be silent for ten minutes before its stream ends.
 */
const IDLE_TIMES: Record<ListenerName, IdleTimes> = {
  PORT: { head: 20, idle: 75, stream: 900 },
  BACKEND_PORT: { head: 20, idle: 360, stream: 900 },
};

export interface Listener {
  name: ListenerName;
  server: Server<SocketSession>;
  host: string;
  port: number;
  address: string;
  /** The connections that have become WebSockets. */
  webSockets: ReadonlySet<SocketSession>;
  /** Takes over the sockets that the program before has left in this process. Until then they wait. */
  takeOver(): Promise<void>;
  /** Serves this surface from now on. Earlier requests have waited for it. */
  open(surface: Surface): void;
}

/** Binds a port, unless its sockets are inherited. Throws StartError if that fails. Until `open`, requests wait, except those for /healthz. */
export function bind(
  variable: ListenerName,
  host: string,
  port: number,
  times: IdleTimes = IDLE_TIMES[variable],
  inherited?: InheritedListener,
): Listener {
  const webSockets = new Set<SocketSession>();
  let surface: Surface | undefined;
  let open: (surface: Surface) => void = () => undefined;
  const opened = new Promise<Surface>((resolve) => {
    open = resolve;
  });
  /** Sets the limit that holds from the response on. It must be set before, since it needs the request. */
  async function limitIdleTime(answer: Promise<Response | undefined>, request: Request, server: WebServer) {
    const response = await answer;
    if (response) {
      const isStream = response.headers.get("content-type")?.startsWith("text/event-stream");
      server.timeout(request, isStream ? times.stream : times.idle);
    }
    return response;
  }

  try {
    const server = Bun.serve<SocketSession>({
      development: false,
      // Otherwise Bun shares the port with another process, outside of development mode.
      reusePort: false,
      hostname: inherited ? "127.0.0.1" : host,
      port: inherited ? 0 : port,
      idleTimeout: times.head,
      // The size is checked when the body is read, with Berth's own error.
      maxRequestBodySize: Number.MAX_SAFE_INTEGER,
      fetch(request: Request, server: WebServer) {
        server.timeout(request, 0);
        if (surface) return limitIdleTime(surface.fetch(request, server), request, server);
        if (URL.parse(request.url)?.pathname === "/healthz") return ownResponse({ status: "ok" }, 200);
        const answer = opened.then((ready) => ready.fetch(request, server));
        return limitIdleTime(answer, request, server);
      },
      error(error) {
        const { status, body } = errorBody(error);
        return ownResponse(body, status);
      },
      websocket: {
        maxPayloadLength: 1024 * 1024,
        idleTimeout: 120,
        open(socket) {
          webSockets.add(socket.data);
          socket.data.open(socket);
        },
        message: (socket, data) => socket.data.message(socket, data),
        close(socket, code) {
          webSockets.delete(socket.data);
          socket.data.close(socket, code);
        },
      },
    });
    const name = host === "0.0.0.0" || host === "::" ? "localhost" : host;
    const boundPort = inherited?.port ?? server.port ?? port;
    return {
      name: variable,
      server,
      host,
      port: boundPort,
      address: `http://${name.includes(":") ? `[${name}]` : name}:${boundPort}`,
      webSockets,
      async takeOver() {
        if (inherited) await (await import("../handover/adopt.ts")).adopt(server, inherited);
      },
      open(ready) {
        surface = ready;
        open(ready);
      },
    };
  } catch (cause) {
    throw new StartError(bindErrorMessage(variable, host, port, cause), { cause });
  }
}

/** A response without a surface, with the headers that every response has. */
const ownResponse = (body: unknown, status: number) =>
  Response.json(body, {
    status,
    headers: { "x-request-id": createRequestId(), "x-content-type-options": "nosniff" },
  });

function bindErrorMessage(variable: ListenerName, host: string, port: number, error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "EADDRINUSE") {
    return `${variable}: port ${port} is in use by another program. Free it, or set ${variable} to another port.`;
  }
  if (code === "EACCES")
    return `${variable}: this user may not listen on port ${port}. Set ${variable} to another port.`;
  const hostVariable = variable === "PORT" ? "HOST" : "BACKEND_HOST";
  return `${hostVariable}: this machine can't listen on ${host}. Set ${hostVariable} to an address of its own.`;
}
