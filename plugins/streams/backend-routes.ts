// Defines the backend surface's routes of live streams for their owners.
import { Elysia, type Static } from "elysia";
import { documentErrors } from "../../src/kernel/http/openapi/route-documentation.ts";
import type { ServiceOf } from "../../src/kernel/plugin.ts";
import type { agents as agentsPlugin } from "../agents/index.ts";
import {
  CHANGE_ERRORS,
  CREATE_ERRORS,
  NO_STREAM,
  removeResult,
  rotateResult,
  stream,
  streamQuery,
  toRotateResult,
  toStream,
} from "./model.ts";
import { CHANGE_STREAM_ACTION, READ_STREAM_ACTION } from "./stream-actions.ts";
import { type StreamService, streamNotFound, streamsDisabled } from "./stream-service.ts";

interface Deps {
  guards: ServiceOf<typeof agentsPlugin>["guards"];
  streamService: StreamService;
}

export function backendRoutes({ guards, streamService }: Deps) {
  const detail = { tags: ["Live streams"] };

  async function statusOf(agentId: string, { orNone }: Static<typeof streamQuery> = {}) {
    const found = await streamService.statusOf(agentId);
    if (found) return toStream(found);
    if (orNone) return NO_STREAM;
    throw streamNotFound();
  }

  return new Elysia({ name: "streams.backend" })
    .use(guards)
    .get("/api/agents/:id/stream", ({ agent, query }) => statusOf(agent.id, query), {
      agentCall: { action: READ_STREAM_ACTION, scope: "write" },
      query: streamQuery,
      response: { 200: stream },
      detail: {
        ...detail,
        summary: "Show an agent's live stream: addresses, key and state",
        description:
          "`rtmp` is the address for the publishing program, `streamKey` its secret, `hls` and `playbackUrl` are for viewers. With `orNone=1`, an agent without a stream is no error.",
        ...documentErrors({ 404: "STREAM_NOT_FOUND" }),
      },
    })
    .put(
      "/api/agents/:id/stream",
      async ({ agent }) => {
        if (streamService.streaming.provider === null) throw streamsDisabled();
        await streamService.create(agent.id);
        return statusOf(agent.id);
      },
      {
        agentCall: { action: CHANGE_STREAM_ACTION, changes: true },
        response: { 200: stream },
        detail: {
          ...detail,
          summary: "Create an agent's live stream, or show the existing one",
          description: "An agent has at most one live stream. Calling this again returns the same stream.",
          operationId: "createAgentStream",
          ...documentErrors(CREATE_ERRORS),
        },
      },
    )
    .post(
      "/api/agents/:id/stream/rotate",
      async ({ agent }) => toRotateResult(await streamService.rotateKey(agent.id)),
      {
        agentCall: { action: CHANGE_STREAM_ACTION, changes: true },
        response: { 200: rotateResult },
        detail: {
          ...detail,
          summary: "Replace the stream key and disconnect the publisher",
          description: "The old key stops working at once; the addresses for viewers stay.",
          operationId: "rotateStreamKey",
          ...documentErrors(CHANGE_ERRORS),
        },
      },
    )
    .delete(
      "/api/agents/:id/stream",
      async ({ agent }) => {
        if (!(await streamService.remove(agent.id))) throw streamNotFound();
        return { success: true as const };
      },
      {
        agentCall: { action: CHANGE_STREAM_ACTION, changes: true },
        response: { 200: removeResult },
        detail: {
          ...detail,
          summary: "Remove an agent's live stream",
          description: "The publisher is disconnected, and the addresses stop working.",
          ...documentErrors({ 404: "STREAM_NOT_FOUND", 409: "OPERATION_IN_PROGRESS" }),
        },
      },
    );
}
