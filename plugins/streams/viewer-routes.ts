// Defines the routes of those who watch live streams: the page, and the files of the stream. Publishers connect to the backend, and it holds the segments.
import { Elysia } from "elysia";
import type { Config } from "../../src/kernel/config/config.ts";
import { notFound } from "../../src/kernel/errors.ts";
import { encodePathSegment } from "../../src/kernel/http/backend/backend-response.ts";
import type { BackendTransport } from "../../src/kernel/http/backend/backend-transport.ts";
import { documentErrors } from "../../src/kernel/http/openapi/route-documentation.ts";
import { contextOf } from "../../src/kernel/http/request-context.ts";
import { openRoutes } from "../../src/kernel/http/route-guards.ts";
import { prefersHtml } from "../../src/kernel/pages/accept.ts";
import { languageOf } from "../../src/kernel/pages/language.ts";
import type { ServiceOf } from "../../src/kernel/plugin.ts";
import type { RateLimiter } from "../../src/kernel/security/rate-limits/rate-limiter.ts";
import type { auth } from "../auth/index.ts";
import { playerPage, streamNotFoundPage } from "./player-page.ts";
import { WATCH_STREAM_ACTION } from "./stream-actions.ts";
import type { StreamService } from "./stream-service.ts";

interface Deps {
  config: Pick<Config, "role">;
  backend: BackendTransport;
  limits: RateLimiter;
  identities: Pick<ServiceOf<typeof auth>["identities"], "guards">;
  streamService: Pick<StreamService, "mediaResponse">;
  /** The agent's name, null while its public page is off; undefined if there is no such stream. */
  publicNameOf: (id: string) => Promise<string | null | undefined>;
}

/** The backend's response headers that players need. */
const FORWARDED_HEADERS = ["content-type", "cache-control", "access-control-allow-origin"];

const detail = { tags: ["Live streams"] };

/** Documents the responses of media routes: a playlist or a segment of HLS (RFC 8216). */
const mediaResponses = {
  responses: {
    200: {
      description: "The playlist, or a segment of the stream",
      content: {
        "application/vnd.apple.mpegurl": { schema: { type: "string" as const } },
        "video/mp4": { schema: { type: "string" as const, format: "binary" } },
      },
    },
  },
};

export function viewerRoutes({ config, backend: transport, limits, identities, streamService, publicNameOf }: Deps) {
  async function fetchFromBackend(request: Request, id: string, file: string): Promise<Response> {
    const grant = { userId: "", isAdmin: false, action: WATCH_STREAM_ACTION, address: contextOf(request).address };
    const path = `/api/live/${encodePathSegment(id)}/${encodePathSegment(file)}`;
    const response = await transport.fetch(grant, path, { signal: request.signal });
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

  const web = new Elysia({ name: "streams.viewers" })
    .use(openRoutes)
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

  const backend = new Elysia({ name: "streams.viewers.backend" })
    .use(identities.guards)
    .get(
      "/api/live/:liveStreamId/:file",
      ({ params: { liveStreamId, file } }) => streamService.mediaResponse(liveStreamId, file),
      {
        granted: { action: WATCH_STREAM_ACTION, scope: "read" },
        detail: {
          ...detail,
          summary: "Get the playlist or a segment of a live stream; only for the web surface",
          description: "With two roles, the web surface reads segments here, because the backend holds them in memory.",
          operationId: "getStreamFile",
          ...mediaResponses,
          ...documentErrors({ 404: "STREAM_OFF_AIR" }),
        },
      },
    );

  return { web, backend };
}
