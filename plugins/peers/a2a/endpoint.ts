// Answers JSON-RPC requests of the A2A protocol with the official SDK: version 1.0, and 0.3 for clients that name no version.
import { LegacyJsonRpcTransportHandler } from "@a2a-js/sdk/compat/v0_3/server";
import { toJsonRpcError, VersionNotSupportedError } from "@a2a-js/sdk/errors";
import { JsonRpcTransportHandler, ServerCallContext } from "@a2a-js/sdk/server";
import { EVENT_STREAM_HEADERS } from "../../../src/kernel/http/sse-streams.ts";
import type { Log } from "../../../src/kernel/telemetry/log.ts";
import { toA2AError } from "./errors.ts";
import { createRequestHandler } from "./request-handler.ts";
import type { Visit, Visits } from "./visits.ts";

interface Deps {
  visits: Visits;
  log: Log;
}

export type A2AEndpoint = ReturnType<typeof createA2AEndpoint>;

const VERSION_HEADER = "a2a-version";
const LEGACY = "0.3";
const CURRENT = "1.0";

export function createA2AEndpoint({ visits, log }: Deps) {
  return {
    async respond(request: Request, body: Record<string, unknown>, visit: Visit, url: string): Promise<Response> {
      const id = typeof body.id === "string" || typeof body.id === "number" ? body.id : null;
      const version = request.headers.get(VERSION_HEADER)?.trim() || LEGACY;
      const fail = (error: unknown) =>
        Response.json({ jsonrpc: "2.0", id, error: toJsonRpcError(toA2AError(error, log)) });
      if (version !== LEGACY && version !== CURRENT) {
        return fail(new VersionNotSupportedError(`The versions ${CURRENT} and ${LEGACY} are supported.`));
      }
      const handler = createRequestHandler({ visits, visit, url, signal: request.signal, log });
      const transport =
        version === LEGACY ? new LegacyJsonRpcTransportHandler(handler) : new JsonRpcTransportHandler(handler);
      try {
        const result = await transport.handle(body, new ServerCallContext({ requestedVersion: version }));
        if (!(Symbol.asyncIterator in result)) return Response.json(result);
        return new Response(toStream(result), { headers: EVENT_STREAM_HEADERS });
      } catch (error) {
        return fail(error);
      }
    },
  };
}

/** The responses as server-sent events. A client that leaves ends the generator. */
function toStream(responses: AsyncGenerator<unknown>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await responses.next();
        if (done) controller.close();
        else controller.enqueue(encoder.encode(`data: ${JSON.stringify(value)}\n\n`));
      } catch (error) {
        controller.error(error);
      }
    },
    async cancel() {
      await responses.return(undefined);
    },
  });
}
