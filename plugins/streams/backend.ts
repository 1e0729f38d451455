// The backend's routes of streams, where they are published and kept.
import { Elysia } from "elysia";
import { mayAnswer } from "../../src/openapi/told.ts";
import type { ServiceOf } from "../../src/plugin.ts";
import type { agents as agentsPlugin } from "../agents/index.ts";
import type { auth } from "../auth/index.ts";
import { CHANGE_ERRORS, CREATE_ERRORS, playing, removed, rotated, stream, toRotated, toStream } from "./model.ts";
import { noStream, type Streams, streamsOff } from "./streams.ts";
import { LOOK, STREAM, WATCH } from "./web.ts";

interface Deps {
  identities: Pick<ServiceOf<typeof auth>["identities"], "guards">;
  guards: ServiceOf<typeof agentsPlugin>["guards"];
  streams: Streams;
  /** What viewers ask for; throws 404. */
  watch: (id: string, file: string) => Response;
}

export function backendRoutes({ identities, guards, streams, watch }: Deps) {
  const detail = { tags: ["Live streams"] };

  async function standingOf(agentId: string) {
    const found = await streams.of(agentId);
    if (!found) throw noStream();
    return toStream(found);
  }

  return new Elysia({ name: "streams.backend" })
    .use(identities.guards)
    .use(guards)
    .get("/api/agents/:id/stream", ({ agent }) => standingOf(agent.id), {
      agentCall: { action: LOOK, scope: "write" },
      response: { 200: stream },
      detail: {
        ...detail,
        summary: "An agent's live stream: addresses, key, and how it is",
        ...mayAnswer({ 404: "STREAM_NOT_FOUND" }),
      },
    })
    .put(
      "/api/agents/:id/stream",
      async ({ agent }) => {
        if (streams.streaming.provider === null) throw streamsOff();
        await streams.create(agent.id);
        return standingOf(agent.id);
      },
      {
        agentCall: { action: STREAM, changes: true },
        response: { 200: stream },
        detail: {
          ...detail,
          summary: "Give an agent a live stream, or show the one it has",
          ...mayAnswer(CREATE_ERRORS),
        },
      },
    )
    .post("/api/agents/:id/stream/rotate", async ({ agent }) => toRotated(await streams.rotateKey(agent.id)), {
      agentCall: { action: STREAM, changes: true },
      response: { 200: rotated },
      detail: { ...detail, summary: "Another key; whoever publishes is sent away", ...mayAnswer(CHANGE_ERRORS) },
    })
    .delete(
      "/api/agents/:id/stream",
      async ({ agent }) => {
        if (!(await streams.remove(agent.id))) throw noStream();
        return { success: true as const };
      },
      {
        agentCall: { action: STREAM, changes: true },
        response: { 200: removed },
        detail: {
          ...detail,
          summary: "Take the live stream from an agent",
          ...mayAnswer({ 404: "STREAM_NOT_FOUND", 409: "OPERATION_IN_PROGRESS" }),
        },
      },
    )
    .get("/api/live/:liveStreamId/:file", ({ params: { liveStreamId, file } }) => watch(liveStreamId, file), {
      granted: { action: WATCH, scope: "read" },
      detail: {
        ...detail,
        summary: "What a viewer asks for; for the web surface alone",
        ...playing,
        ...mayAnswer({ 404: "STREAM_OFF_AIR" }),
      },
    });
}
