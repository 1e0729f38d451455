// Serves each request where its cell is: in this process, or by sending it on to the node that owns the cell.

import { AppError } from "../../kernel/errors.ts";
import { unwrapJson } from "../../kernel/http/backend/backend-response.ts";
import type { Surface } from "../../kernel/http/surface.ts";
import type { WebServer } from "../../kernel/http/web-sockets.ts";
import { failure } from "./failure.ts";
import { RELAY_HEADER, type RelayGrants, requestLine } from "./grants.ts";
import { isMoved, MOVED_HEADER, prepareRelay, type Sending } from "./relay.ts";
import { relaySocket } from "./relay-socket.ts";
import { withClient } from "./with-client.ts";

export interface RouterDeps {
  /** Of this node. */
  address: string;
  grants: RelayGrants;
  /** The cell's surfaces, while this node owns it under a trusted lease. */
  local(): { web: Surface; backend: Surface } | undefined;
  /** The address of the node that owns the cell. */
  owner(): string | undefined;
  /** Answers what concerns this node alone, whoever owns the cell: /healthz, /readyz, /metrics. */
  own(request: Request, surface: "web" | "backend", server: WebServer): Promise<Response | undefined>;
  /** Runs a command of the command line that came to another node; undefined if the cell is not here. */
  command(request: Request): Promise<Response | undefined>;
  onRelayed(): void;
  /** Resolves when the owner may have changed, or after `ms`. */
  changed(ms: number): Promise<void>;
}

export interface Router {
  readonly web: Surface;
  readonly backend: Surface;
  /** Runs a command where the cell is. */
  runCommand(name: string, args: Readonly<Record<string, string>>): Promise<unknown>;
  /** Requests that this process handles for its cell. */
  readonly inFlight: number;
}

/** Milliseconds for which a request waits for an owner, as during a takeover. */
const WAIT_MS = 8_000;
const LOOK_MS = 250;
const COMMAND_PATH = "/cluster/command";

export function createRouter(deps: RouterDeps): Router {
  const { address, grants, local, owner, own, command, onRelayed, changed } = deps;
  let inFlight = 0;

  async function serve(surface: Surface, request: Request, server: WebServer): Promise<Response | undefined> {
    inFlight++;
    try {
      return await surface.fetch(request, server);
    } finally {
      inFlight--;
    }
  }

  /** A request of another node is served here or sent back: it is never sent on twice. */
  async function serveRelayed(header: string, request: Request, server: WebServer): Promise<Response | undefined> {
    const grant = grants.verify(header, address, requestLine(request.method, request.url));
    if (grant === undefined) return failure(forgedGrant());
    if (grant.surface === "command") return (await command(request)) ?? moved();
    const surfaces = local();
    if (!surfaces) return moved();
    const response = await serve(surfaces[grant.surface], request, withClient(server, grant.clientAddress));
    // Only a node can say that it has done nothing: a provider whose answer is passed on would be asked again and again.
    if (response && isMoved(response)) response.headers.delete(MOVED_HEADER);
    return response;
  }

  async function route(name: "web" | "backend", request: Request, server: WebServer): Promise<Response | undefined> {
    const header = request.headers.get(RELAY_HEADER);
    if (header !== null && name === "backend") return serveRelayed(header, request, server);
    const answer = await own(request, name, server);
    if (answer) return answer;
    const clientAddress = server.requestIP(request)?.address ?? "";
    const isSocket = request.headers.get("upgrade")?.toLowerCase() === "websocket";
    const deadline = performance.now() + WAIT_MS;
    let sending: Sending | undefined;
    for (;;) {
      const surfaces = local();
      if (surfaces) {
        const asSent = sending?.request() ?? request;
        return serve(surfaces[name], asSent, asSent === request ? server : withClient(server, clientAddress, request));
      }
      const node = owner();
      if (node !== undefined && node !== address) {
        if (!isSocket) sending ??= prepareRelay(request, grants);
        const outcome = isSocket
          ? await relaySocket({ request, server, node, grants, grant: { surface: name, clientAddress } })
          : await sending?.send(node, { surface: name, clientAddress });
        if (outcome === "upgraded") {
          onRelayed();
          return undefined;
        }
        if (outcome instanceof Response && !isMoved(outcome)) {
          onRelayed();
          return outcome;
        }
        if (outcome === "broken") return failure(brokenRelay());
      }
      if (performance.now() >= deadline) return failure(noOwner());
      await changed(LOOK_MS);
    }
  }

  const surface = (name: "web" | "backend"): Surface => ({
    name,
    fetch: (request, server) => route(name, request, server),
    handle: () => Promise.resolve(failure(noOwner())),
  });
  /** Sends a command on to the owner. */
  async function runCommand(name: string, args: Readonly<Record<string, string>>): Promise<unknown> {
    const deadline = performance.now() + WAIT_MS;
    const body = JSON.stringify({ name, args });
    for (;;) {
      const node = owner();
      if (node !== undefined) {
        const request = new Request(`${node}${COMMAND_PATH}`, { method: "POST", body });
        const outcome = await prepareRelay(request, grants).send(node, { surface: "command", clientAddress: "" });
        if (outcome === "broken") throw brokenRelay();
        if (outcome instanceof Response && !isMoved(outcome)) return unwrapJson(outcome);
      }
      if (performance.now() >= deadline) throw noOwner();
      await changed(LOOK_MS);
    }
  }

  return {
    web: surface("web"),
    backend: surface("backend"),
    runCommand,
    get inFlight() {
      return inFlight;
    },
  };
}

const moved = () => {
  const response = failure(noOwner());
  response.headers.set(MOVED_HEADER, "1");
  return response;
};

const noOwner = () =>
  new AppError(503, "CELL_MOVED", "This is moving to another machine. Try again in a few seconds.", { retryAfter: 3 });
const brokenRelay = () =>
  new AppError(
    502,
    "RELAY_BROKEN",
    "The machine that handles this ended in the middle of the request. Whether it was done is not known; look, then try again.",
  );
const forgedGrant = () => new AppError(403, "RELAY_REFUSED", "This grant of another node is not valid here.");
