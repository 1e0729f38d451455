// The calls of agents' turns go the way of all calls: with breakers, and to the next provider of the same model where one fails.
import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4Prompt } from "@ai-sdk/provider";
import { AppError } from "../../../src/kernel/errors.ts";
import { setJsonMembers } from "../../../src/kernel/util/json-text.ts";
import type { ServedModel } from "../ledger/ledger.ts";
import type { Candidate } from "../providers/candidates.ts";
import { authHeaders, type Fetch, type Upstream } from "../providers/providers.ts";
import type { ProviderCalls, ProviderResponse } from "./provider-calls.ts";

export interface TurnCalls {
  /** What the SDK's client of this upstream calls instead of `fetch`; `others` are asked where it fails. */
  fetch(upstream: Upstream, fallbacks: () => readonly Candidate[]): Fetch;
  /** The same model; of its calls that bring a signal, as those of turns do, it is known who answered. */
  trackServed(model: LanguageModelV4): LanguageModelV4;
  /** Who answered the newest call with this prompt, where that was another than the one that was asked first. */
  servedBy(prompt: LanguageModelV4Prompt): ServedModel | undefined;
}

/** Milliseconds until an answer begins, or is there as a whole; a little less than the turn's own patience. */
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
    trackServed: (model) => ({
      specificationVersion: model.specificationVersion,
      provider: model.provider,
      modelId: model.modelId,
      supportedUrls: model.supportedUrls,
      doGenerate: (options) => model.doGenerate(trackPrompt(options)),
      doStream: (options) => model.doStream(trackPrompt(options)),
    }),
    servedBy: (prompt) => servedByPrompt.get(prompt),
  };
}

/** The answer; one that streams tells the breaker when the provider does not finish it. */
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

/** What the SDK wrote (a record, its names in small letters), with the key of the one that is asked: no other ever sees it. */
function requestHeaders({ headers }: RequestInit, upstream: Upstream): Record<string, string> {
  const { authorization: _, ...own } = headers as Record<string, string>;
  return { ...own, ...authHeaders(upstream) };
}

/** An answer that the SDK understands: turns are tried again, or not, by its status and its `Retry-After`. */
const toOpenAiErrorResponse = ({ status, message, code, headers }: AppError) =>
  Response.json({ error: { message, type: "provider_error", param: null, code } }, { status, headers });
