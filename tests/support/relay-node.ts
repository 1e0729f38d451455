// A node of a cluster as far as its router goes, for tests of how requests are sent on.
import { type Clocks, createRelayGrants } from "../../src/cluster/relay/grants.ts";
import { createRouter, type Router, type RouterDeps } from "../../src/cluster/relay/router.ts";
import type { SocketSession, WebServer } from "../../src/kernel/http/web-sockets.ts";
import { createVault } from "../../src/kernel/security/vault.ts";

export interface RelayNode {
  address: string;
  /** Requests that the cell's surface got here. */
  served(): number;
  router: Pick<Router, "endStreams">;
}

export interface RelayNodeOptions {
  answer?: (request: Request) => Response | Promise<Response>;
  /** Whether the owner takes the request for a WebSocket. */
  accept?: (request: Request) => boolean;
  /** What the owner does with such a WebSocket. Default: it says "hello". */
  session?: SocketSession;
  owner?: () => string | undefined;
  clocks?: Clocks;
  quietMs?: number;
  call?: RouterDeps["call"];
}

/** Starts a node that owns the cell and answers with `answer`, or one that takes `owner` for the owner. */
export function startRelayNode(
  stack: AsyncDisposableStack,
  { answer, owner, clocks, accept, session = hello, quietMs, call }: RelayNodeOptions,
): RelayNode {
  let served = 0;
  const surface = (name: "web" | "backend") => ({
    name,
    async fetch(request: Request, server: WebServer) {
      served++;
      if (accept?.(request) && server.upgrade(request, { data: session })) return undefined;
      return answer?.(request);
    },
    handle: () => Promise.reject(new Error("It is not asked from inside.")),
  });
  const vault = createVault({ key: "the key of the cluster" });
  const server = Bun.serve<SocketSession>({
    development: false,
    idleTimeout: 0,
    port: 0,
    hostname: "127.0.0.1",
    fetch: (request, server) => router.backend.fetch(request, server),
    websocket: {
      open: (socket) => void socket.data.open(socket),
      message: (socket, data) => socket.data.message(socket, data),
      close: (socket, code) => socket.data.close(socket, code),
    },
  });
  stack.defer(() => server.stop(true));
  const address = `http://127.0.0.1:${server.port}`;
  const router = createRouter({
    address,
    grants: createRelayGrants(vault, clocks),
    count: () => 1,
    agentsDomain: "agents.example",
    placeOf() {
      if (answer) return { kind: "here", surfaces: { web: surface("web"), backend: surface("backend") } };
      const found = owner?.();
      return found === undefined ? undefined : { kind: "node", address: found };
    },
    own: () => Promise.resolve(undefined),
    call: call ?? (() => Promise.resolve(undefined)),
    onRelayed: () => undefined,
    movedTo: async () => undefined,
    changed: () => Bun.sleep(1),
    ...(quietMs !== undefined && { quietMs }),
  });
  return { address, served: () => served, router };
}

const hello: SocketSession = {
  open: (socket) => void socket.send("hello"),
  message: () => undefined,
  close: () => undefined,
};
