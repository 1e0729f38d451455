// Serves each request where its cell is: in this process, which has cell 0, or in the process of another cell. A cell that
// finds that a request is for another one says so, and the request goes there.
import {
  decodeForwarding,
  ELSEWHERE_HEADER,
  elsewhereOf,
  encodeForwarding,
  FORWARDING_HEADER,
  type Forwarding,
  setForwarding,
} from "../../kernel/cells/forwarding.ts";
import { AppError } from "../../kernel/errors.ts";
import type { Surface } from "../../kernel/http/surface.ts";
import type { WebServer } from "../../kernel/http/web-sockets.ts";
import { failure } from "../relay/failure.ts";
import { RELAY_HEADER, type RelayGrants } from "../relay/grants.ts";
import { prepareRelay } from "../relay/relay.ts";
import { relaySocket } from "../relay/relay-socket.ts";
import { withClient } from "../relay/with-client.ts";
import { cellOfRequest } from "./addressee.ts";
import { cellAway } from "./calls.ts";

export interface CellRouterDeps {
  /** How many cells there are. */
  count: number;
  agentsDomain: string;
  /** Of cell 0. */
  local: { web: Surface; backend: Surface };
  grants: RelayGrants;
  /** Answers what concerns all cells: /readyz, and refusals of metrics. */
  own(request: Request, surface: "web" | "backend"): Response | undefined;
  /** Where another cell answers; undefined while it does not. */
  addressOf(cell: number): string | undefined;
  /** Resolves when an address may have changed, or after `ms`. */
  changed(ms: number): Promise<void>;
}

/** Milliseconds for which a request waits for a cell that starts. */
const WAIT_MS = 8_000;
const LOOK_MS = 250;
/** How often a request may be sent on: from a wrong mark to cell 0, from there to its cell. */
const MAX_HOPS = 4;

type Name = "web" | "backend";

interface Answer {
  /** Undefined: the request became a WebSocket. */
  response: Response | undefined;
  /** The request, with its body unless the cell has read it. */
  unread: Request;
  /** The cell that it is for, if that is another one. */
  next: number | undefined;
}

export function createCellRouter({ count, agentsDomain, local, own, grants, addressOf, changed }: CellRouterDeps) {
  async function route(name: Name, request: Request, server: WebServer): Promise<Response | undefined> {
    // What only the processes of cells tell each other is not taken from a client.
    for (const header of [FORWARDING_HEADER, RELAY_HEADER])
      if (request.headers.has(header)) request.headers.delete(header);
    const answer = own(request, name);
    if (answer) return answer;
    const marked = cellOfRequest(request, agentsDomain);
    let cell = marked < count ? marked : 0;
    let { response, unread, next } =
      cell === 0 ? await serve(name, request, server) : await send(cell, name, request, server);
    for (let hop = 1; ; hop++) {
      if (!response || next === undefined) return response;
      if (hop === MAX_HOPS || next >= count) return failure(noSuchCell());
      cell = next;
      const forwarding = decodeForwarding(response.headers.get(FORWARDING_HEADER) ?? "");
      const again = await repeat(unread, response);
      const ofClient = withClient(server, clientOf(request, server), request);
      ({ response, unread, next } =
        cell === 0
          ? await serve(name, again, ofClient, forwarding)
          : await send(cell, name, again, ofClient, forwarding));
    }
  }

  async function serve(name: Name, request: Request, server: WebServer, forwarding?: Forwarding): Promise<Answer> {
    if (forwarding) setForwarding(request, forwarding);
    const response = await local[name].fetch(request, server);
    return { response, unread: request, next: response && elsewhereOf(response) };
  }

  async function send(
    cell: number,
    surface: Name,
    request: Request,
    server: WebServer,
    forwarding?: Forwarding,
  ): Promise<Answer> {
    if (forwarding) request.headers.set(FORWARDING_HEADER, encodeForwarding(forwarding));
    const grant = { surface, clientAddress: clientOf(request, server) };
    const isSocket = request.headers.get("upgrade")?.toLowerCase() === "websocket";
    const sending = isSocket ? undefined : prepareRelay(request, grants);
    const answer = (response: Response | undefined): Answer => {
      const next = response?.headers.get(ELSEWHERE_HEADER);
      return { response, unread: sending?.request() ?? request, next: next ? Number(next) : undefined };
    };
    const deadline = performance.now() + WAIT_MS;
    for (;;) {
      const node = addressOf(cell);
      if (node !== undefined) {
        const outcome = sending
          ? await sending.send(node, grant)
          : await relaySocket({ request, server, node, grants, grant });
        if (outcome === "upgraded") return answer(undefined);
        if (outcome instanceof Response) return answer(outcome);
        if (outcome === "broken") return answer(failure(broken()));
      }
      if (performance.now() >= deadline) return answer(failure(cellAway()));
      await changed(LOOK_MS);
    }
  }

  const surface = (name: Name): Surface => ({
    name,
    fetch: (request, server) => route(name, request, server),
    handle: local[name].handle,
  });
  return { web: surface("web"), backend: surface("backend") };
}

const clientOf = (request: Request, server: WebServer) => server.requestIP(request)?.address ?? "";

/** The same request, with the body that the first cell has read and sent back; one that it did not read is still there. */
async function repeat(request: Request, response: Response): Promise<Request> {
  const { url, method, headers, signal } = request;
  if (method === "GET" || method === "HEAD") return new Request(url, { method, headers, signal });
  const read = await response.arrayBuffer();
  const body = read.byteLength > 0 || request.bodyUsed ? read : await request.arrayBuffer();
  return new Request(url, { method, headers, signal, ...(body.byteLength > 0 && { body }) });
}

const noSuchCell = () => new AppError(500, "INTERNAL", "No part of this service takes this request.");
const broken = () =>
  new AppError(
    502,
    "RELAY_BROKEN",
    "The part of this service that handles this ended in the middle of the request. Whether it was done is not known; look, then try again.",
  );
