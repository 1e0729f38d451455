// Sends the SDK's calls for agents' turns through `provider-calls.ts`, so that they have circuit breakers and fall back to other
// providers of the same model.
import type { LanguageModelV4, LanguageModelV4Prompt } from "@ai-sdk/provider";
import { AppError } from "../../../src/kernel/errors.ts";
import { setJsonMembers } from "../../../src/kernel/util/json-text.ts";
import type { Candidate } from "../providers/candidates.ts";
import { authHeaders, type Fetch, type Upstream } from "../providers/providers.ts";
import { type CountedUsage, findLastUsage, findModel } from "../providers/token-usage.ts";
import type { ProviderCalls, ProviderResponse } from "./provider-calls.ts";
import { createUsageTap } from "./usage-tap.ts";
import { wrapModel } from "./wrap-model.ts";

export interface TurnCalls {
  /** The `fetch` of the SDK's client for this upstream. If the upstream fails, the fallbacks are called in order. */
  fetch(upstream: Upstream, fallbacks: () => readonly Candidate[]): Fetch;
  /**
   * The same model, which records the answer to each call. Only calls with an abort signal are recorded; those of turns have
   * one. The response of a model without a price is not searched for what it charged.
   */
  trackAnswers(model: LanguageModelV4, isPriced: boolean): LanguageModelV4;
  /** The answer to the latest call with this prompt; undefined if there was none yet. */
  answerTo(prompt: LanguageModelV4Prompt): TurnAnswer | undefined;
}

/** What a provider's response says beside its content. */
export interface TurnAnswer {
  /** The fallback that answered; left out if the first upstream did. */
  fallback?: Candidate;
  /** The provider's count; left out if the response had none, or was cut. */
  counted?: CountedUsage;
  /** The model's id in the response. */
  answeredModel?: string | undefined;
}

/** Milliseconds until a stream begins, and until a whole response has arrived; a little less than the turn's own timeouts. */
const STREAM_TIMEOUT_MS = 110_000;
const WHOLE_TIMEOUT_MS = 280_000;

export function createTurnCalls({ calls }: { calls: ProviderCalls }): TurnCalls {
  const tracked = new WeakMap<AbortSignal, { prompt: LanguageModelV4Prompt; isPriced: boolean }>();
  const answers = new WeakMap<LanguageModelV4Prompt, TurnAnswer>();

  /** The record for what the response says; undefined if the call is not tracked, or has no price. */
  function beginAnswer(
    signal: AbortSignal | null | undefined,
    fallback: Candidate | undefined,
  ): TurnAnswer | undefined {
    const call = signal && tracked.get(signal);
    if (!call) return undefined;
    const answer: TurnAnswer = fallback ? { fallback } : {};
    answers.set(call.prompt, answer);
    return fallback || call.isPriced ? answer : undefined;
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
            const { candidate } = providerResponse;
            const answer = beginAnswer(signal, candidate === primary ? undefined : candidate);
            return readAnswer(providerResponse, answer, signal);
          },
        });
      } catch (error) {
        signal?.throwIfAborted();
        if (error instanceof AppError) return toOpenAiErrorResponse(error);
        throw error;
      }
    },
    trackAnswers: (model, isPriced) =>
      wrapModel(model, (options) => {
        const { abortSignal, prompt } = options;
        if (abortSignal) tracked.set(abortSignal, { prompt, isPriced });
        return options;
      }),
    answerTo: (prompt) => answers.get(prompt),
  };
}

/**
 * The same response, of which the model and the usage are recorded. If it is a stream that the provider breaks off, that is
 * recorded as a failure.
 */
async function readAnswer(
  { response, candidate, markEnded, markBroken }: ProviderResponse,
  answer: TurnAnswer | undefined,
  signal: AbortSignal | null | undefined,
): Promise<Response> {
  const { body, ok, status, statusText, headers } = response;
  if (!body || !ok) return response;
  const { readCharge } = candidate.upstream.definition;
  if (!headers.get("content-type")?.startsWith("text/event-stream")) {
    if (!answer) return response;
    const whole = Buffer.from(await response.arrayBuffer());
    const counted = findLastUsage(whole, readCharge);
    if (counted) answer.counted = counted;
    answer.answeredModel = findModel(whole);
    return new Response(whole, { status, statusText, headers });
  }
  const tap = answer && createUsageTap(false, readCharge);
  const recordEnd = () => {
    if (!tap) return;
    const { usage, answeredModel } = tap.result("");
    if (!usage.estimated) answer.counted = usage;
    answer.answeredModel = answeredModel;
  };
  const reader = body.getReader();
  const trackedBody = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { value, done } = await reader.read();
        if (!done) {
          tap?.push(value);
          return controller.enqueue(value);
        }
        recordEnd();
        markEnded();
        controller.close();
      } catch (error) {
        recordEnd();
        markEnded();
        if (!signal?.aborted) markBroken();
        controller.error(error);
      }
    },
    cancel(reason) {
      recordEnd();
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
