// Counts the bytes of model calls for the agent that each call is made for.
import type { LanguageModelV4, LanguageModelV4CallOptions } from "@ai-sdk/provider";
import type { Fetch } from "../providers/providers.ts";
import { wrapModel } from "./wrap-model.ts";

/** Called with the bytes of a request when it is sent, and with those of the response as they arrive. */
export type TrafficListener = (agentId: string, sent: number, received: number) => void;

export interface TrafficMeter {
  /** The same model, whose calls are counted for this agent. Only calls with an abort signal are; those of turns have one. */
  attributeTo(agentId: string, model: LanguageModelV4): LanguageModelV4;
  /** A `fetch` that counts the bodies of calls that were attributed to an agent. */
  meteredFetch(send: Fetch): Fetch;
}

/**
 * Identifies a call's agent by its abort signal, since all agents with the same key share a client. The SDK passes the signal
 * on unchanged (`abortSignal` in the AI SDK's provider interface).
 */
export function createTrafficMeter(onTraffic: TrafficListener): TrafficMeter {
  const agentBySignal = new WeakMap<AbortSignal, string>();

  function tagSignal(agentId: string, options: LanguageModelV4CallOptions): LanguageModelV4CallOptions {
    if (options.abortSignal) agentBySignal.set(options.abortSignal, agentId);
    return options;
  }

  return {
    attributeTo: (agentId, model) => wrapModel(model, (options) => tagSignal(agentId, options)),

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

/** The same response, whose body is counted while it is read. */
function countBody({ status, statusText, headers }: Response, body: ReadableStream, onBytes: (bytes: number) => void) {
  const counter = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      onBytes(chunk.byteLength);
      controller.enqueue(chunk);
    },
  });
  return new Response(body.pipeThrough(counter), { status, statusText, headers });
}
