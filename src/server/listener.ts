// Binds a port before the rest of the start, and serves /healthz until the surface is ready.
import type { Server } from "bun";
import { errorBody } from "../kernel/error-body.ts";
import { StartError } from "../kernel/errors.ts";
import type { Surface } from "../kernel/http/surface.ts";
import type { SocketSession, WebServer } from "../kernel/http/web-sockets.ts";

export interface Listener {
  server: Server<SocketSession>;
  address: string;
  /** Serves this surface from now on. Earlier requests have waited for it. */
  open(surface: Surface): void;
}

/** Binds a port. Throws StartError if that fails. Until `open`, requests wait, except those for /healthz. */
export function bind(variable: "PORT" | "BACKEND_PORT", host: string, port: number): Listener {
  let surface: Surface | undefined;
  let open: (surface: Surface) => void = () => undefined;
  const opened = new Promise<Surface>((resolve) => {
    open = resolve;
  });
  try {
    const server = Bun.serve<SocketSession>({
      development: false,
      // Otherwise Bun shares the port with another process, outside of development mode.
      reusePort: false,
      hostname: host,
      port,
      // Streams may be silent for long; routes set their own limits.
      idleTimeout: 0,
      // The size is checked when the body is read, with Berth's own error.
      maxRequestBodySize: Number.MAX_SAFE_INTEGER,
      fetch(request: Request, server: WebServer) {
        if (surface) return surface.fetch(request, server);
        if (new URL(request.url).pathname === "/healthz") return Response.json({ status: "ok" });
        return opened.then((ready) => ready.fetch(request, server));
      },
      error(error) {
        const { status, body } = errorBody(error);
        return Response.json(body, { status });
      },
      websocket: {
        maxPayloadLength: 1024 * 1024,
        idleTimeout: 120,
        open: (socket) => socket.data.open(socket),
        message: (socket, data) => socket.data.message(socket, data),
        close: (socket, code) => socket.data.close(socket, code),
      },
    });
    const name = host === "0.0.0.0" || host === "::" ? "localhost" : host;
    return {
      server,
      address: `http://${name.includes(":") ? `[${name}]` : name}:${server.port}`,
      open(ready) {
        surface = ready;
        open(ready);
      },
    };
  } catch (cause) {
    throw new StartError(bindErrorMessage(variable, host, port, cause), { cause });
  }
}

function bindErrorMessage(variable: "PORT" | "BACKEND_PORT", host: string, port: number, error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "EADDRINUSE") {
    return `${variable}: port ${port} is in use by another program. Free it, or set ${variable} to another port.`;
  }
  if (code === "EACCES")
    return `${variable}: this user may not listen on port ${port}. Set ${variable} to another port.`;
  const hostVariable = variable === "PORT" ? "HOST" : "BACKEND_HOST";
  return `${hostVariable}: this machine can't listen on ${host}. Set ${hostVariable} to an address of its own.`;
}
