// The web's routes of streams: the owner's, passed on to the backend, and what anybody may watch.
import { Elysia } from "elysia";
import { type BackendTransport, passOn, pathPart } from "../../src/backend.ts";
import type { Config } from "../../src/config.ts";
import { contextOf, openRoutes } from "../../src/http.ts";
import type { Limits } from "../../src/limits.ts";
import { mayAnswer } from "../../src/openapi/told.ts";
import type { ServiceOf } from "../../src/plugin.ts";
import type { agents as agentsPlugin } from "../agents/index.ts";
import type { auth, Identity } from "../auth/index.ts";
import { CHANGE_ERRORS, CREATE_ERRORS, playing, removed, rotated, stream } from "./model.ts";
import type { Pages } from "./page.ts";

/** What service tokens name. */
export const LOOK = "agent.stream";
export const STREAM = "agent.stream.change";
export const WATCH = "stream.watch";

interface Deps {
  config: Pick<Config, "role">;
  backend: BackendTransport;
  limits: Limits;
  identities: ServiceOf<typeof auth>["identities"];
  guards: ServiceOf<typeof agentsPlugin>["guards"];
  /** What viewers ask for; throws 404. */
  watch: (id: string, file: string) => Response;
  /** The name that viewers may be told, null for none; undefined when there is no such stream. */
  nameOf: (id: string) => Promise<string | null | undefined>;
  pages: Pages;
}

/** Of what comes from the backend, what players go by. */
const TOLD_HEADERS = ["content-type", "cache-control", "access-control-allow-origin"];

export function webRoutes({ config, backend, limits, identities, guards, watch, nameOf, pages }: Deps) {
  const detail = { tags: ["Live streams"] };
  // Also to look: the key lets whoever knows it publish.
  const writing = { ownAgent: { scope: "write" as const, kind: "data" as const } };

  interface Asked {
    identity: Identity;
    request: Request;
    agent: { id: string };
  }

  /** Asks the backend for the same, in the caller's name, and passes its answer on. */
  async function forward({ identity, request, agent }: Asked, path = ""): Promise<Response> {
    const { method, signal } = request;
    const grant = identities.grant(identity, request, method === "GET" ? LOOK : STREAM, agent.id);
    return passOn(await backend.fetch(grant, `/api/agents/${agent.id}/stream${path}`, { method, signal }));
  }

  async function passedOn(request: Request, id: string, file: string): Promise<Response> {
    const grant = { userId: "", isAdmin: false, action: WATCH, address: contextOf(request).address };
    const path = `/api/live/${pathPart(id)}/${pathPart(file)}`;
    const answer = await backend.fetch(grant, path, { signal: request.signal });
    const told = TOLD_HEADERS.flatMap((name) => {
      const value = answer.headers.get(name);
      return value === null ? [] : [[name, value] as const];
    });
    return new Response(answer.body, { status: answer.status, headers: Object.fromEntries(told) });
  }

  /** What is there is not limited (contract §1); who asks for what is not there is limited as anybody else. */
  function missed(request: Request): void {
    const decision = limits.take("default", contextOf(request).address);
    if (!decision.allowed) throw limits.refusal(decision);
  }

  async function file(request: Request, id: string, name: string): Promise<Response> {
    if (config.role === "web") {
      const answer = await passedOn(request, id, name);
      if (answer.status === 404) missed(request);
      return answer;
    }
    try {
      return watch(id, name);
    } catch (error) {
      missed(request);
      throw error;
    }
  }

  const toPlaylist = (id: string) =>
    new Response(null, {
      status: 302,
      headers: { location: `/live/${pathPart(id)}/index.m3u8`, vary: "accept", "access-control-allow-origin": "*" },
    });

  return new Elysia({ name: "streams.web" })
    .use(openRoutes)
    .use(guards)
    .get("/api/agents/:id/stream", (asked) => forward(asked), {
      ...writing,
      response: { 200: stream },
      detail: {
        ...detail,
        summary: "An agent's live stream: addresses, key, and how it is",
        ...mayAnswer({ 404: "STREAM_NOT_FOUND", 502: "BACKEND_UNAVAILABLE" }),
      },
    })
    .put("/api/agents/:id/stream", (asked) => forward(asked), {
      ...writing,
      response: { 200: stream },
      detail: {
        ...detail,
        summary: "Give an agent a live stream, or show the one it has",
        ...mayAnswer({ ...CREATE_ERRORS, 502: "BACKEND_UNAVAILABLE" }),
      },
    })
    .post("/api/agents/:id/stream/rotate", (asked) => forward(asked, "/rotate"), {
      ...writing,
      response: { 200: rotated },
      detail: {
        ...detail,
        summary: "Another key; whoever publishes is sent away",
        ...mayAnswer({ ...CHANGE_ERRORS, 502: "BACKEND_UNAVAILABLE" }),
      },
    })
    .delete("/api/agents/:id/stream", (asked) => forward(asked), {
      ...writing,
      response: { 200: removed },
      detail: {
        ...detail,
        summary: "Take the live stream from an agent",
        ...mayAnswer({ 404: "STREAM_NOT_FOUND", 409: "OPERATION_IN_PROGRESS", 502: "BACKEND_UNAVAILABLE" }),
      },
    })
    .get(
      "/live/:liveStreamId",
      async ({ params, headers }) => {
        const name = await nameOf(params.liveStreamId);
        if (name === undefined) return pages.nothing();
        // A player that was given this address wants what the page plays.
        return headers.accept?.includes("text/html") ? pages.viewer(name) : toPlaylist(params.liveStreamId);
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
        ...playing,
        ...mayAnswer({ 404: "STREAM_OFF_AIR", 502: "BACKEND_UNAVAILABLE" }),
      },
    });
}
