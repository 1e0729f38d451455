// Bytes of the models' calls, by the agent in whose name each is made.
import type { LanguageModelV4, LanguageModelV4CallOptions } from "@ai-sdk/provider";
import type { Fetch } from "../providers/providers.ts";

/** Told as soon as they are known: what went out with the call, what came in bit by bit. */
export type TrafficListener = (agentId: string, sent: number, received: number) => void;

export interface TrafficMeter {
  /** The same model; its calls that bring a signal, as those of turns do, count for this agent. */
  attributeTo(agentId: string, model: LanguageModelV4): LanguageModelV4;
  /** Counts the bodies of calls that were made in somebody's name. */
  meteredFetch(send: Fetch): Fetch;
}

/**
 * Clients are shared by all agents with the same key, so what tells a call's agent is its signal, which the SDK hands on as
 * it is (`abortSignal` in the AI SDK's provider interface).
 */
export function createTrafficMeter(onTraffic: TrafficListener): TrafficMeter {
  const agentBySignal = new WeakMap<AbortSignal, string>();

  function tagSignal(agentId: string, options: LanguageModelV4CallOptions): LanguageModelV4CallOptions {
    if (options.abortSignal) agentBySignal.set(options.abortSignal, agentId);
    return options;
  }

  return {
    attributeTo: (agentId, model) => ({
      specificationVersion: model.specificationVersion,
      provider: model.provider,
      modelId: model.modelId,
      supportedUrls: model.supportedUrls,
      doGenerate: (options) => model.doGenerate(tagSignal(agentId, options)),
      doStream: (options) => model.doStream(tagSignal(agentId, options)),
    }),

    meteredFetch: (send) => async (url, init) => {
      const agentId = init.signal ? agentBySignal.get(init.signal) : undefined;
      if (agentId === undefined) return send(url, init);
      onTraffic(agentId, typeof init.body === "string" ? Buffer.byteLength(init.body) : 0, 0);
      const response = await send(url, init);
      const length = Number(response.headers.get("content-length") ?? Number.NaN);
      if (!Number.isNaN(length) || !response.body) {
        onTraffic(agentId, 0, length || 0);
        return response;
      }
      return countBody(response, response.body, (bytes) => onTraffic(agentId, 0, bytes));
    },
  };
}

/** The same answer, counted as it is read, piece by piece as it comes. */
function countBody({ status, statusText, headers }: Response, body: ReadableStream, onBytes: (bytes: number) => void) {
  const counter = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      onBytes(chunk.byteLength);
      controller.enqueue(chunk);
    },
  });
  return new Response(body.pipeThrough(counter), { status, statusText, headers });
}
