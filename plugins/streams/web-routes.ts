// The web's routes of streams: the owner's, passed on to the backend, and what anybody may watch.
import { Elysia } from "elysia";
import type { Config } from "../../src/kernel/config/config.ts";
import { type BackendTransport, encodePathSegment, forwardResponse } from "../../src/kernel/http/backend-transport.ts";
import { contextOf, openRoutes } from "../../src/kernel/http/http.ts";
import { documentErrors } from "../../src/kernel/http/openapi/route-documentation.ts";
import type { ServiceOf } from "../../src/kernel/plugin.ts";
import type { RateLimiter } from "../../src/kernel/security/rate-limits/rate-limiter.ts";
import type { agents as agentsPlugin } from "../agents/index.ts";
import type { auth, Identity } from "../auth/index.ts";
import { CHANGE_ERRORS, CREATE_ERRORS, mediaResponses, removeResult, rotateResult, stream } from "./model.ts";
import type { PlayerPages } from "./player-page.ts";

/** What service tokens name. */
export const READ_STREAM_ACTION = "agent.stream";
export const CHANGE_STREAM_ACTION = "agent.stream.change";
export const WATCH_STREAM_ACTION = "stream.watch";

interface Deps {
  config: Pick<Config, "role">;
  backend: BackendTransport;
  limits: RateLimiter;
  identities: ServiceOf<typeof auth>["identities"];
  guards: ServiceOf<typeof agentsPlugin>["guards"];
  /** What viewers ask for; throws 404. */
  mediaResponse: (id: string, file: string) => Response;
  /** The name that viewers may be told, null for none; undefined when there is no such stream. */
  publicNameOf: (id: string) => Promise<string | null | undefined>;
  playerPages: PlayerPages;
}

/** Of what comes from the backend, what players go by. */
const FORWARDED_HEADERS = ["content-type", "cache-control", "access-control-allow-origin"];

export function webRoutes({
  config,
  backend,
  limits,
  identities,
  guards,
  mediaResponse,
  publicNameOf,
  playerPages,
}: Deps) {
  const detail = { tags: ["Live streams"] };
  // Also to look: the key lets whoever knows it publish.
  const ownerWrite = { ownAgent: { scope: "write" as const, kind: "data" as const } };

  interface OwnerRequest {
    identity: Identity;
    request: Request;
    agent: { id: string };
  }

  /** Asks the backend for the same, in the caller's name, and passes its answer on. */
  async function forwardToBackend({ identity, request, agent }: OwnerRequest, path = ""): Promise<Response> {
    const { method, signal } = request;
    const grant = identities.createGrant(
      identity,
      request,
      method === "GET" ? READ_STREAM_ACTION : CHANGE_STREAM_ACTION,
      agent.id,
    );
    return forwardResponse(await backend.fetch(grant, `/api/agents/${agent.id}/stream${path}`, { method, signal }));
  }

  async function fetchFromBackend(request: Request, id: string, file: string): Promise<Response> {
    const grant = { userId: "", isAdmin: false, action: WATCH_STREAM_ACTION, address: contextOf(request).address };
    const path = `/api/live/${encodePathSegment(id)}/${encodePathSegment(file)}`;
    const response = await backend.fetch(grant, path, { signal: request.signal });
    const headers = FORWARDED_HEADERS.flatMap((name) => {
      const value = response.headers.get(name);
      return value === null ? [] : [[name, value] as const];
    });
    return new Response(response.body, { status: response.status, headers: Object.fromEntries(headers) });
  }

  /** What is there is not limited (contract §1); who asks for what is not there is limited as anybody else. */
  function countMiss(request: Request): void {
    const decision = limits.take("default", contextOf(request).address);
    if (!decision.allowed) throw limits.tooManyRequests(decision);
  }

  async function file(request: Request, id: string, name: string): Promise<Response> {
    if (config.role === "web") {
      const answer = await fetchFromBackend(request, id, name);
      if (answer.status === 404) countMiss(request);
      return answer;
    }
    try {
      return mediaResponse(id, name);
    } catch (error) {
      countMiss(request);
      throw error;
    }
  }

  const redirectToPlaylist = (id: string) =>
    new Response(null, {
      status: 302,
      headers: {
        location: `/live/${encodePathSegment(id)}/index.m3u8`,
        vary: "accept",
        "access-control-allow-origin": "*",
      },
    });

  return new Elysia({ name: "streams.web" })
    .use(openRoutes)
    .use(guards)
    .get("/api/agents/:id/stream", (ownerRequest) => forwardToBackend(ownerRequest), {
      ...ownerWrite,
      response: { 200: stream },
      detail: {
        ...detail,
        summary: "An agent's live stream: addresses, key, and how it is",
        ...documentErrors({ 404: "STREAM_NOT_FOUND", 502: "BACKEND_UNAVAILABLE" }),
      },
    })
    .put("/api/agents/:id/stream", (ownerRequest) => forwardToBackend(ownerRequest), {
      ...ownerWrite,
      response: { 200: stream },
      detail: {
        ...detail,
        summary: "Give an agent a live stream, or show the one it has",
        ...documentErrors({ ...CREATE_ERRORS, 502: "BACKEND_UNAVAILABLE" }),
      },
    })
    .post("/api/agents/:id/stream/rotate", (ownerRequest) => forwardToBackend(ownerRequest, "/rotate"), {
      ...ownerWrite,
      response: { 200: rotateResult },
      detail: {
        ...detail,
        summary: "Another key; whoever publishes is sent away",
        ...documentErrors({ ...CHANGE_ERRORS, 502: "BACKEND_UNAVAILABLE" }),
      },
    })
    .delete("/api/agents/:id/stream", (ownerRequest) => forwardToBackend(ownerRequest), {
      ...ownerWrite,
      response: { 200: removeResult },
      detail: {
        ...detail,
        summary: "Take the live stream from an agent",
        ...documentErrors({ 404: "STREAM_NOT_FOUND", 409: "OPERATION_IN_PROGRESS", 502: "BACKEND_UNAVAILABLE" }),
      },
    })
    .get(
      "/live/:liveStreamId",
      async ({ params, headers }) => {
        const name = await publicNameOf(params.liveStreamId);
        if (name === undefined) return playerPages.notFoundPage();
        // A player that was given this address wants what the page plays.
        return headers.accept?.includes("text/html")
          ? playerPages.playerPage(name)
          : redirectToPlaylist(params.liveStreamId);
      },
      {
        open: true,
        detail: {
          ...detail,
          summary: "A page that plays a live stream; players are sent on to its playlist",
          responses: {
            302: { description: "To the playlist, for who doesn't take HTML" },
            200: { description: "The page", content: { "text/html": { schema: { type: "string" } } } },
            404: { description: "A page that says so", content: { "text/html": { schema: { type: "string" } } } },
          },
        },
      },
    )
    .get("/live/:liveStreamId/:file", ({ request, params }) => file(request, params.liveStreamId, params.file), {
      open: true,
      detail: {
        ...detail,
        summary: "The playlist (index.m3u8) and the pieces of a live stream, by HLS",
        description: "Pages of any origin may read them. Not limited while the stream is on the air.",
        ...mediaResponses,
        ...documentErrors({ 404: "STREAM_OFF_AIR", 502: "BACKEND_UNAVAILABLE" }),
      },
    });
}
