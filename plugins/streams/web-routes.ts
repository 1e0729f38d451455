// Defines the web surface's routes of live streams: the owner's are forwarded to the backend; the viewers' are open.
import { Elysia } from "elysia";
import type { Config } from "../../src/kernel/config/config.ts";
import { notFound } from "../../src/kernel/errors.ts";
import { encodePathSegment, forwardResponse } from "../../src/kernel/http/backend/backend-response.ts";
import type { BackendTransport } from "../../src/kernel/http/backend/backend-transport.ts";
import { documentErrors } from "../../src/kernel/http/openapi/route-documentation.ts";
import { contextOf } from "../../src/kernel/http/request-context.ts";
import { openRoutes } from "../../src/kernel/http/route-guards.ts";
import { prefersHtml } from "../../src/kernel/pages/accept.ts";
import { languageOf } from "../../src/kernel/pages/language.ts";
import type { ServiceOf } from "../../src/kernel/plugin.ts";
import type { RateLimiter } from "../../src/kernel/security/rate-limits/rate-limiter.ts";
import type { agents as agentsPlugin } from "../agents/index.ts";
import type { auth, Identity } from "../auth/index.ts";
import {
  CHANGE_ERRORS,
  CREATE_ERRORS,
  mediaResponses,
  removeResult,
  rotateResult,
  stream,
  streamQuery,
} from "./model.ts";
import { playerPage, streamNotFoundPage } from "./player-page.ts";
import { CHANGE_STREAM_ACTION, READ_STREAM_ACTION, WATCH_STREAM_ACTION } from "./stream-actions.ts";
import type { StreamService } from "./stream-service.ts";

interface Deps {
  config: Pick<Config, "role">;
  backend: BackendTransport;
  limits: RateLimiter;
  identities: ServiceOf<typeof auth>["identities"];
  guards: ServiceOf<typeof agentsPlugin>["guards"];
  streamService: Pick<StreamService, "mediaResponse">;
  /** The agent's name, null while its public page is off; undefined if there is no such stream. */
  publicNameOf: (id: string) => Promise<string | null | undefined>;
}

/** The backend's response headers that players need. */
const FORWARDED_HEADERS = ["content-type", "cache-control", "access-control-allow-origin"];

export function webRoutes({ config, backend, limits, identities, guards, streamService, publicNameOf }: Deps) {
  const detail = { tags: ["Live streams"] };
  // Reading requires the write scope too: the response contains the key, which lets its holder publish.
  const ownerWrite = { ownAgent: { scope: "write" as const, kind: "data" as const } };

  interface OwnerRequest {
    identity: Identity;
    request: Request;
    agent: { id: string };
  }

  /** Sends the request to the backend in the caller's name and returns its response. */
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

  /** Files of a live stream are not rate limited; requests for other files count under the rule `default`. */
  function countMiss(request: Request): void {
    const decision = limits.take("default", contextOf(request).address);
    if (!decision.allowed) throw limits.tooManyRequests(decision);
  }

  async function serveMedia(request: Request, id: string, name: string): Promise<Response> {
    if (config.role === "web") {
      const response = await fetchFromBackend(request, id, name);
      if (response.status === 404) countMiss(request);
      return response;
    }
    try {
      return streamService.mediaResponse(id, name);
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
    .get("/api/agents/:id/stream", (call) => forwardToBackend(call, call.query.orNone ? "?orNone=1" : ""), {
      ...ownerWrite,
      query: streamQuery,
      response: { 200: stream },
      detail: {
        ...detail,
        summary: "Show an agent's live stream: addresses, key and state",
        description:
          "`rtmp` is the address for the publishing program, `streamKey` its secret, `hls` and `playbackUrl` are for viewers. With `orNone=1`, an agent without a stream is no error.",
        ...documentErrors({ 404: "STREAM_NOT_FOUND", 502: "BACKEND_UNAVAILABLE" }),
      },
    })
    .put("/api/agents/:id/stream", (ownerRequest) => forwardToBackend(ownerRequest), {
      ...ownerWrite,
      response: { 200: stream },
      detail: {
        ...detail,
        summary: "Create an agent's live stream, or show the existing one",
        description: "An agent has at most one live stream. Calling this again returns the same stream.",
        operationId: "createAgentStream",
        ...documentErrors({ ...CREATE_ERRORS, 502: "BACKEND_UNAVAILABLE" }),
      },
    })
    .post("/api/agents/:id/stream/rotate", (ownerRequest) => forwardToBackend(ownerRequest, "/rotate"), {
      ...ownerWrite,
      response: { 200: rotateResult },
      detail: {
        ...detail,
        summary: "Replace the stream key and disconnect the publisher",
        description: "The old key stops working at once; the addresses for viewers stay.",
        operationId: "rotateStreamKey",
        ...documentErrors({ ...CHANGE_ERRORS, 502: "BACKEND_UNAVAILABLE" }),
      },
    })
    .delete("/api/agents/:id/stream", (ownerRequest) => forwardToBackend(ownerRequest), {
      ...ownerWrite,
      response: { 200: removeResult },
      detail: {
        ...detail,
        summary: "Remove an agent's live stream",
        description: "The publisher is disconnected, and the addresses stop working.",
        ...documentErrors({ 404: "STREAM_NOT_FOUND", 409: "OPERATION_IN_PROGRESS", 502: "BACKEND_UNAVAILABLE" }),
      },
    })
    .get(
      "/live/:liveStreamId",
      async ({ params: { liveStreamId }, request }) => {
        const name = await publicNameOf(liveStreamId);
        const wantsPage = prefersHtml(request);
        if (name === undefined) {
          if (wantsPage) return streamNotFoundPage(languageOf(request));
          throw notFound("There is no live stream at this address.", "STREAM_NOT_FOUND");
        }
        // A player that was given the page's address gets the playlist that the page plays.
        return wantsPage ? playerPage(name, languageOf(request)) : redirectToPlaylist(liveStreamId);
      },
      {
        open: true,
        detail: {
          ...detail,
          summary: "Show a page that plays a live stream; players are redirected to its playlist",
          description: "For browsers. The page plays the stream when it is live.",
          operationId: "showStreamPage",
          responses: {
            302: { description: "To the playlist, for clients that don't accept HTML" },
            200: { description: "The page", content: { "text/html": { schema: { type: "string" } } } },
          },
          ...documentErrors({ 404: "STREAM_NOT_FOUND" }),
        },
      },
    )
    .get("/live/:liveStreamId/:file", ({ request, params }) => serveMedia(request, params.liveStreamId, params.file), {
      open: true,
      detail: {
        ...detail,
        summary: "Get the HLS playlist (index.m3u8) or a segment of a live stream",
        operationId: "getStreamFile",
        description: "Pages of any origin may read them. They are not rate limited while the stream is on the air.",
        ...mediaResponses,
        ...documentErrors({ 404: "STREAM_OFF_AIR", 502: "BACKEND_UNAVAILABLE" }),
      },
    });
}
