// Serves each request where its cell is: in this process, in another one of this machine, or on the node that owns the cell. A
// cell that finds that a request is for another one says so, and the request goes there.
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
import { countEventStream } from "../../kernel/http/sse-streams.ts";
import type { Surface } from "../../kernel/http/surface.ts";
import type { WebServer } from "../../kernel/http/web-sockets.ts";
import { brokenRelay, cellAway, cellMoved } from "../away.ts";
import { cellOfRequest } from "../cells/addressee.ts";
import { type Departure, type PassedOn, untilEnded, watchDepartures } from "./departures.ts";
import { failure } from "./failure.ts";
import { isOfBody, RELAY_HEADER, type RelayGrants, requestLine } from "./grants.ts";
import type { Place, SurfaceName } from "./place.ts";
import {
  isMoved,
  isWhole,
  MOVED_HEADER,
  movedResponse,
  prepareRelay,
  type RelayOutcome,
  type Sending,
} from "./relay.ts";
import { isSocket, relaySocket } from "./relay-socket.ts";
import { withClient } from "./with-client.ts";

export interface RouterDeps {
  /** Of this node, as the others reach it; undefined for a machine alone. */
  address: string | undefined;
  /** How many cells there are. */
  count(): number;
  agentsDomain: string;
  grants: RelayGrants;
  /** Undefined while the cell is served nowhere, as far as this node knows. */
  placeOf(cell: number): Place | undefined;
  /** Answers what concerns this machine, whatever it owns: /healthz, /readyz, /metrics. */
  own(request: Request, surface: SurfaceName): Promise<Response | undefined>;
  /** Answers a call of another node; undefined if the cell is not on this one. */
  call(cell: number, body: string): Promise<Response | undefined>;
  onRelayed(): void;
  /** The cell to which the account of a request has moved from the one that its mark names. Asked for WebSockets, which a cell can't send on. */
  movedTo(cell: number, request: Request): Promise<number | undefined>;
  /** Resolves when a place may have changed, or after `ms`. */
  changed(ms: number): Promise<void>;
  /** Milliseconds of silence after which a response breaks off whose node does not have the cell any more; default: 5,000. */
  quietMs?: number;
}

export interface Router {
  readonly web: Surface;
  readonly backend: Surface;
  /** Requests that this process handles itself. */
  readonly inFlight: number;
  /** Ends the streams of events that are passed on: their readers connect again. */
  endStreams(): void;
}

/** Milliseconds for which a request waits for its cell, as during a takeover. */
export const WAIT_MS = 8_000;
const LOOK_MS = 250;
const QUIET_MS = 5_000;
/** How often a request may be sent on: from a wrong mark to cell 0, from there to its cell. */
const MAX_HOPS = 4;

/** A request on its way to a cell. */
interface Delivery {
  cell: number;
  surface: SurfaceName;
  request: Request;
  server: WebServer;
  /** Of the socket at the first node. */
  clientAddress: string;
  /** What another cell has sent along. */
  forwarding: Forwarding | undefined;
  /** Another node has sent it: it is served on this machine, or sent back. */
  isRelayed: boolean;
}

interface Answer {
  /** Undefined: the request became a WebSocket. */
  response: Response | undefined;
  /** The request, with its body unless the cell has read it. */
  unread: Request;
  /** The cell that it is for, if that is another one. */
  next?: number | undefined;
}

export function createRouter(deps: RouterDeps): Router {
  const {
    address,
    count,
    agentsDomain,
    grants,
    placeOf,
    own,
    call,
    onRelayed,
    movedTo,
    changed,
    quietMs = QUIET_MS,
  } = deps;
  /** What a client is told that has waited in vain. */
  const away = address === undefined ? cellAway : cellMoved;
  const departures = watchDepartures({ placeOf, changed });
  const closing = new AbortController();
  let inFlight = 0;

  async function serveHere(surfaces: Record<SurfaceName, Surface>, delivery: Delivery, asSent: Request) {
    const { surface, request, server, clientAddress, forwarding, isRelayed } = delivery;
    if (forwarding) setForwarding(asSent, forwarding);
    const isAsItCame = asSent === request && !isRelayed;
    inFlight++;
    try {
      return await surfaces[surface].fetch(asSent, isAsItCame ? server : withClient(server, clientAddress, request));
    } finally {
      inFlight--;
    }
  }

  async function deliver(delivery: Delivery): Promise<Answer> {
    const { cell, surface, request, server, clientAddress, forwarding, isRelayed } = delivery;
    const grant = { surface, cell, clientAddress };
    const deadline = performance.now() + WAIT_MS;
    let sending: Sending | undefined;
    const answer = (response: Response | undefined, next?: number): Answer => ({
      response,
      unread: sending?.request() ?? request,
      next,
    });
    for (;;) {
      const place = placeOf(cell);
      if (place?.kind === "here") {
        const response = await serveHere(place.surfaces, delivery, sending?.request() ?? request);
        return answer(response, response && elsewhereOf(response));
      }
      if (place && !(isRelayed && place.kind === "node")) {
        if (forwarding) request.headers.set(FORWARDING_HEADER, encodeForwarding(forwarding));
        if (!isSocket(request)) sending ??= prepareRelay(request, grants);
        const { address: node } = place;
        const departure = departures.watch(cell, node);
        const work = sending
          ? sending.send(node, grant, departure.gone)
          : relaySocket({ request, server, node, grants, grant, departure });
        // A stream that a POST has asked for is a reply, which is waited for.
        const isFeed = request.method === "GET";
        const outcome = await watched(work, departure, { quietMs, closing: isFeed ? closing.signal : undefined });
        if (outcome === "broken") return answer(failure(brokenRelay()));
        if (outcome === "upgraded" || (outcome instanceof Response && !isMoved(outcome))) {
          if (place.kind === "node") onRelayed();
          const response = outcome === "upgraded" ? undefined : outcome;
          const next = response?.headers.get(ELSEWHERE_HEADER);
          return answer(response, next ? Number(next) : undefined);
        }
      }
      // The node that has sent it knows better who else may have the cell.
      if (isRelayed) return answer(movedResponse());
      if (performance.now() >= deadline || request.signal.aborted) return answer(failure(away()));
      await changed(LOOK_MS);
    }
  }

  /** A request of another node is served on this machine or sent back: it is never sent on twice. */
  async function serveRelayed(header: string, request: Request, server: WebServer): Promise<Response | undefined> {
    const line = requestLine(request.method, request.url);
    const sentAlong = request.headers.get(FORWARDING_HEADER);
    const grant = address === undefined ? undefined : grants.verify(header, address, line, sentAlong);
    if (grant === undefined) return failure(forgedGrant());
    if (grant === "again") return movedResponse();
    const { surface, cell, clientAddress } = grant;
    if (surface === "call") {
      const body = await request.text();
      return isOfBody(grant, body) ? ((await call(cell, body)) ?? movedResponse()) : failure(forgedGrant());
    }
    const forwarding = takeForwarding(request);
    const isLocal = placeOf(cell)?.kind === "here";
    const delivery = { cell, surface, request, server, clientAddress, forwarding, isRelayed: true };
    const { response, next } = await deliver(delivery);
    if (isLocal && response) {
      // Only a node can say that it has done nothing: a provider whose answer is passed on would be asked again and again.
      response.headers.delete(MOVED_HEADER);
      if (next !== undefined) response.headers.set(ELSEWHERE_HEADER, String(next));
    }
    return response;
  }

  async function route(surface: SurfaceName, request: Request, server: WebServer): Promise<Response | undefined> {
    const header = request.headers.get(RELAY_HEADER);
    if (header !== null && surface === "backend" && address !== undefined) return serveRelayed(header, request, server);
    // What only nodes and processes tell each other is not taken from a client.
    removeInternalHeaders(request);
    const answer = await own(request, surface);
    if (answer) return answer;
    const clientAddress = server.requestIP(request)?.address ?? "";
    const marked = cellOfRequest(request, agentsDomain);
    let cell = marked < count() ? marked : 0;
    if (isSocket(request) && placeOf(cell)?.kind !== "here")
      cell = (await movedTo(cell, request).catch(() => undefined)) ?? cell;
    let forwarding: Forwarding | undefined;
    let asSent = request;
    for (let hop = 1; ; hop++) {
      const ofClient = asSent === request ? server : withClient(server, clientAddress, request);
      const delivery = { cell, surface, request: asSent, server: ofClient, clientAddress, forwarding };
      const { response, unread, next } = await deliver({ ...delivery, isRelayed: false });
      if (!response || next === undefined) return response;
      if (hop === MAX_HOPS) return failure(noSuchCell());
      // Cell 0 answers for one that was removed.
      cell = next < count() ? next : 0;
      forwarding = decodeForwarding(response.headers.get(FORWARDING_HEADER) ?? "");
      asSent = await repeat(unread, response);
    }
  }

  const surface = (name: SurfaceName): Surface => ({
    name,
    fetch: (request, server) => route(name, request, server),
    // What the process asks itself goes to the cell that is here, or waits for none.
    handle(request) {
      const place = placeOf(0);
      return place?.kind === "here" ? place.surfaces[name].handle(request) : Promise.resolve(failure(away()));
    },
  });
  return {
    web: surface("web"),
    backend: surface("backend"),
    get inFlight() {
      return inFlight;
    },
    endStreams: () => closing.abort(),
  };
}

/** Watches what is sent to its last byte: a machine that has lost its power is silent, too. */
async function watched<Outcome extends RelayOutcome | "upgraded">(
  work: Promise<Outcome>,
  departure: Departure,
  { quietMs, closing }: Pick<PassedOn, "quietMs" | "closing">,
): Promise<Outcome | Response> {
  let outcome: Outcome | undefined;
  try {
    outcome = await work;
  } finally {
    // What was passed on ends the watch itself.
    if (!(outcome instanceof Response || outcome === "upgraded")) departure.end();
  }
  if (!(outcome instanceof Response)) return outcome;
  if (isWhole(outcome)) {
    departure.end();
    return outcome;
  }
  // A stream of events is silent between them, and its reader connects again.
  const isStream = outcome.headers.get("content-type")?.startsWith("text/event-stream");
  if (!isStream) return untilEnded(outcome, departure, { quietMs });
  return untilEnded(outcome, departure, { quietMs: 0, ...(closing && { closing, onEnd: countEventStream() }) });
}

/** Removes the headers that nodes and processes set for each other. */
function removeInternalHeaders({ headers }: Request): void {
  for (const name of [FORWARDING_HEADER, RELAY_HEADER]) if (headers.has(name)) headers.delete(name);
}

/** Removes them from a request that another node or process has sent, and returns what the other cell has sent along. */
export function takeForwarding(request: Request): Forwarding | undefined {
  const forwarding = request.headers.get(FORWARDING_HEADER);
  removeInternalHeaders(request);
  return forwarding === null ? undefined : decodeForwarding(forwarding);
}

/** The same request, with the body that the first cell has read and sent back; one that it did not read is still there. */
async function repeat(request: Request, response: Response): Promise<Request> {
  const { url, method, headers, signal } = request;
  // The server makes a WebSocket of the request that it knows alone.
  if (isSocket(request)) return request;
  if (method === "GET" || method === "HEAD") return new Request(url, { method, headers, signal });
  const read = await response.arrayBuffer();
  const body = read.byteLength > 0 || request.bodyUsed ? read : await request.arrayBuffer();
  return new Request(url, { method, headers, signal, ...(body.byteLength > 0 && { body }) });
}

const noSuchCell = () => new AppError(500, "INTERNAL", "No part of this service takes this request.");
const forgedGrant = () => new AppError(403, "RELAY_REFUSED", "This grant of another node is not valid here.");
