// The calls of agents' turns go the way of all calls: with breakers, and to the next provider of the same model where one fails.
import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4Prompt } from "@ai-sdk/provider";
import { AppError } from "../../src/errors.ts";
import { spliceJson } from "../../src/json-text.ts";
import type { Answer, Calls } from "./calls.ts";
import type { Candidate } from "./candidates.ts";
import type { Served } from "./ledger.ts";
import { authHeaders, type Fetch, type Upstream } from "./providers.ts";

export interface TurnCalls {
  /** What the SDK's client of this upstream calls instead of `fetch`; `others` are asked where it fails. */
  fetch(upstream: Upstream, others: () => readonly Candidate[]): Fetch;
  /** The same model; of its calls that bring a signal, as those of turns do, it is known who answered. */
  watched(model: LanguageModelV4): LanguageModelV4;
  /** Who answered the newest call with this prompt, where that was another than the one that was asked first. */
  served(prompt: LanguageModelV4Prompt): Served | undefined;
}

/** Milliseconds until an answer begins, or is there as a whole; a little less than the turn's own patience. */
const STREAM_PATIENCE = 110_000;
const WHOLE_PATIENCE = 280_000;

export function createTurnCalls({ calls }: { calls: Calls }): TurnCalls {
  const prompts = new WeakMap<AbortSignal, LanguageModelV4Prompt>();
  const answered = new WeakMap<LanguageModelV4Prompt, Served>();

  function note(
    signal: AbortSignal | null | undefined,
    { upstream, modelId, pricing }: Candidate,
    first: boolean,
  ): void {
    const prompt = signal && prompts.get(signal);
    if (!prompt) return;
    if (first) answered.delete(prompt);
    else answered.set(prompt, { provider: upstream.provider, modelId, pricing });
  }

  function named(options: LanguageModelV4CallOptions): LanguageModelV4CallOptions {
    if (options.abortSignal) prompts.set(options.abortSignal, options.prompt);
    return options;
  }

  return {
    fetch: (upstream, others) => async (url, init) => {
      const { signal } = init;
      const text = String(init.body);
      const path = url.slice(upstream.baseUrl.length);
      const asked: Candidate = { upstream, modelId: "", pricing: { input: 0, output: 0 } };
      try {
        return await calls.call({
          candidates: [asked, ...others()],
          signal: signal ?? new AbortController().signal,
          patience: text.includes('"stream":true') ? STREAM_PATIENCE : WHOLE_PATIENCE,
          send: (candidate, own) => {
            const body = candidate === asked ? text : spliceJson(text, { model: JSON.stringify(candidate.modelId) });
            const headers = headersFor(init, candidate.upstream);
            const { baseUrl, fetch } = candidate.upstream;
            return fetch(baseUrl + path, { ...init, body, headers, redirect: "manual", signal: own });
          },
          receive: async (answer) => {
            note(signal, answer.candidate, answer.candidate === asked);
            return toItsEnd(answer, signal);
          },
        });
      } catch (error) {
        signal?.throwIfAborted();
        if (error instanceof AppError) return inOpenAiWords(error);
        throw error;
      }
    },
    watched: (model) => ({
      specificationVersion: model.specificationVersion,
      provider: model.provider,
      modelId: model.modelId,
      supportedUrls: model.supportedUrls,
      doGenerate: (options) => model.doGenerate(named(options)),
      doStream: (options) => model.doStream(named(options)),
    }),
    served: (prompt) => answered.get(prompt),
  };
}

/** The answer; one that streams tells the breaker when the provider does not finish it. */
function toItsEnd({ response, end, broke }: Answer, signal: AbortSignal | null | undefined): Response {
  const { body, status, statusText, headers } = response;
  if (!body || !headers.get("content-type")?.startsWith("text/event-stream")) return response;
  const reader = body.getReader();
  const watched = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { value, done } = await reader.read();
        if (!done) return controller.enqueue(value);
        end();
        controller.close();
      } catch (error) {
        end();
        if (!signal?.aborted) broke();
        controller.error(error);
      }
    },
    cancel(reason) {
      end();
      return reader.cancel(reason);
    },
  });
  return new Response(watched, { status, statusText, headers });
}

/** What the SDK wrote (a record, its names in small letters), with the key of the one that is asked: no other ever sees it. */
function headersFor({ headers }: RequestInit, upstream: Upstream): Record<string, string> {
  const { authorization: _, ...own } = headers as Record<string, string>;
  return { ...own, ...authHeaders(upstream) };
}

/** An answer that the SDK understands: turns are tried again, or not, by its status and its `Retry-After`. */
const inOpenAiWords = ({ status, message, code, headers }: AppError) =>
  Response.json({ error: { message, type: "provider_error", param: null, code } }, { status, headers });
