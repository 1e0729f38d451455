// Sends the SDK's calls for agents' turns through `provider-calls.ts`, so that they have circuit breakers and fall back to other
// providers of the same model.
import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4Prompt } from "@ai-sdk/provider";
import { AppError } from "../../../src/kernel/errors.ts";
import { setJsonMembers } from "../../../src/kernel/util/json-text.ts";
import type { ServedModel } from "../ledger/ledger.ts";
import type { Candidate } from "../providers/candidates.ts";
import { authHeaders, type Fetch, type Upstream } from "../providers/providers.ts";
import type { ProviderCalls, ProviderResponse } from "./provider-calls.ts";
import { wrapModel } from "./wrap-model.ts";

export interface TurnCalls {
  /** The `fetch` of the SDK's client for this upstream. If the upstream fails, the fallbacks are called in order. */
  fetch(upstream: Upstream, fallbacks: () => readonly Candidate[]): Fetch;
  /** The same model, which records who served each call. Only calls with an abort signal are recorded; those of turns have one. */
  trackServed(model: LanguageModelV4): LanguageModelV4;
  /** The fallback that served the latest call with this prompt; undefined if the first upstream served it. */
  servedBy(prompt: LanguageModelV4Prompt): ServedModel | undefined;
}

/** Milliseconds until a stream begins, and until a whole response has arrived; a little less than the turn's own timeouts. */
const STREAM_TIMEOUT_MS = 110_000;
const WHOLE_TIMEOUT_MS = 280_000;

export function createTurnCalls({ calls }: { calls: ProviderCalls }): TurnCalls {
  const prompts = new WeakMap<AbortSignal, LanguageModelV4Prompt>();
  const servedByPrompt = new WeakMap<LanguageModelV4Prompt, ServedModel>();

  function recordServed(
    signal: AbortSignal | null | undefined,
    { upstream, modelId, pricing }: Candidate,
    first: boolean,
  ): void {
    const prompt = signal && prompts.get(signal);
    if (!prompt) return;
    if (first) servedByPrompt.delete(prompt);
    else servedByPrompt.set(prompt, { provider: upstream.provider, modelId, pricing });
  }

  function trackPrompt(options: LanguageModelV4CallOptions): LanguageModelV4CallOptions {
    if (options.abortSignal) prompts.set(options.abortSignal, options.prompt);
    return options;
  }

  return {
    fetch: (upstream, fallbacks) => async (url, init) => {
      const { signal } = init;
      const text = String(init.body);
      const path = url.slice(upstream.baseUrl.length);
      const primary: Candidate = { upstream, modelId: "", pricing: { input: 0, output: 0 } };
      try {
        return await calls.request({
          candidates: [primary, ...fallbacks()],
          signal: signal ?? new AbortController().signal,
          timeoutMs: text.includes('"stream":true') ? STREAM_TIMEOUT_MS : WHOLE_TIMEOUT_MS,
          send: (candidate, own) => {
            const body =
              candidate === primary ? text : setJsonMembers(text, { model: JSON.stringify(candidate.modelId) });
            const headers = requestHeaders(init, candidate.upstream);
            const { baseUrl, fetch } = candidate.upstream;
            return fetch(baseUrl + path, { ...init, body, headers, redirect: "manual", signal: own });
          },
          receive: async (providerResponse) => {
            recordServed(signal, providerResponse.candidate, providerResponse.candidate === primary);
            return trackStreamEnd(providerResponse, signal);
          },
        });
      } catch (error) {
        signal?.throwIfAborted();
        if (error instanceof AppError) return toOpenAiErrorResponse(error);
        throw error;
      }
    },
    trackServed: (model) => wrapModel(model, trackPrompt),
    servedBy: (prompt) => servedByPrompt.get(prompt),
  };
}

/** The response. If it is a stream that the provider breaks off, that is recorded as a failure. */
function trackStreamEnd(
  { response, markEnded, markBroken }: ProviderResponse,
  signal: AbortSignal | null | undefined,
): Response {
  const { body, status, statusText, headers } = response;
  if (!body || !headers.get("content-type")?.startsWith("text/event-stream")) return response;
  const reader = body.getReader();
  const trackedBody = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { value, done } = await reader.read();
        if (!done) return controller.enqueue(value);
        markEnded();
        controller.close();
      } catch (error) {
        markEnded();
        if (!signal?.aborted) markBroken();
        controller.error(error);
      }
    },
    cancel(reason) {
      markEnded();
      return reader.cancel(reason);
    },
  });
  return new Response(trackedBody, { status, statusText, headers });
}

/** The SDK's headers (a record with lower-case names) with the key of this upstream in place of the SDK's, which no other provider may see. */
function requestHeaders({ headers }: RequestInit, upstream: Upstream): Record<string, string> {
  const { authorization: _, ...own } = headers as Record<string, string>;
  return { ...own, ...authHeaders(upstream) };
}

/** The error as the SDK reads it. The status and `Retry-After` decide whether the turn is retried. */
const toOpenAiErrorResponse = ({ status, message, code, headers }: AppError) =>
  Response.json({ error: { message, type: "provider_error", param: null, code } }, { status, headers });
