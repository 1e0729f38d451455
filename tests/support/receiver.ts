// Receives webhooks: records requests, verifies them with the standardwebhooks package, and fails on demand.
import { Webhook } from "standardwebhooks";
import { createWatch } from "./eventually.ts";

/** A request that arrived. */
export interface Received {
  path: string;
  id: string;
  headers: Record<string, string>;
  body: string;
  /** Parsed, unverified. */
  message: { type: string; timestamp: string; data: Record<string, unknown> };
}

/** The response: a status, a whole response, or none. */
export type Behaviour = number | Response | "hang";

export interface Receiver extends AsyncDisposable {
  readonly url: string;
  readonly received: readonly Received[];
  /** Sets the response from now on (default 204). A function gets each request and the number of earlier ones with its path and id. */
  answer(behaviour: number | "hang" | ((received: Received, before: number) => Behaviour)): void;
  /** Waits for `count` matching requests and returns them; throws after 5 s. */
  take(count: number, matches?: (received: Received) => boolean, timeoutMs?: number): Promise<Received[]>;
  clear(): void;
  /** Closes all connections and stops listening. */
  kill(): Promise<void>;
  /** Listens at the same address again. */
  restart(): void;
}

/** Starts a receiver on a free port. */
export function startReceiver(): Receiver {
  const received: Received[] = [];
  const watch = createWatch();
  let behave: (received: Received, before: number) => Behaviour = () => 204;
  const fetch = async (request: Request): Promise<Response> => {
    const body = await request.text();
    const headers = Object.fromEntries(request.headers);
    const id = headers["webhook-id"] ?? "";
    const one: Received = { path: new URL(request.url).pathname, id, headers, body, message: JSON.parse(body) };
    const before = received.filter((other) => other.id === id && other.path === one.path).length;
    received.push(one);
    watch.changed();
    const behaviour = behave(one, before);
    if (behaviour === "hang") return new Promise<Response>(() => undefined);
    return typeof behaviour === "number" ? new Response(null, { status: behaviour }) : behaviour;
  };
  const listen = (port: number) => Bun.serve({ hostname: "127.0.0.1", port, idleTimeout: 0, fetch });
  let server = listen(0);
  const port = server.port ?? 0;
  return {
    url: `http://127.0.0.1:${port}`,
    received,
    answer(behaviour) {
      behave = typeof behaviour === "function" ? behaviour : () => behaviour;
    },
    async take(count, matches = () => true, timeoutMs = 5_000) {
      const found = () => received.filter(matches);
      await watch.waitFor(() => found().length >= count, timeoutMs, `${count} webhooks arrive`);
      return found().slice(0, count);
    },
    clear: () => void received.splice(0),
    kill: () => server.stop(true),
    restart() {
      server = listen(port);
    },
    [Symbol.asyncDispose]: () => server.stop(true),
  };
}

/** Throws unless the request is signed with this secret and fresh. */
export function verify({ body, headers }: Received, secret: string): unknown {
  return new Webhook(secret).verify(body, headers);
}

/** Whether the request is signed with this secret and fresh. */
export function isSignedWith(received: Received, secret: string): boolean {
  try {
    verify(received, secret);
    return true;
  } catch {
    return false;
  }
}
