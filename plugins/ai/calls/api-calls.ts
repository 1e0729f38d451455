// Serves the AI API on the operator's keys: selects the candidates, reserves the cost, and settles it after the response.
import { unauthorized } from "../../../src/kernel/errors.ts";
import { abortable } from "../../../src/kernel/util/timeout.ts";
import type { CachedCalls } from "../cache/cached-calls.ts";
import type { BudgetScope, Ledger, LedgerCall } from "../ledger/ledger.ts";
import type { Candidate, Candidates } from "../providers/candidates.ts";
import type { Catalogue } from "../providers/catalogue.ts";
import type { PriceCheck } from "../providers/price-check.ts";
import { costMicroUsd, estimateTokensUpperBound } from "../providers/pricing.ts";
import { estimateUnansweredUsage } from "../providers/token-usage.ts";
import type { ChatBody } from "./chat-request.ts";
import type { EmbeddingsBody } from "./embeddings-request.ts";
import type { Passthrough, PassthroughCall } from "./passthrough.ts";
import { clientClosedError, mayHaveBeenBilled, noProviderError } from "./provider-errors.ts";

/** Output tokens of one API call, at most. */
export const MAX_API_TOKENS = 4_096;

export interface ApiCall<Body> {
  /** The request body as it came, and parsed and checked. */
  text: string;
  body: Body;
  signal: AbortSignal;
  /** The account of the caller; undefined for a call without an account. */
  userId: string | undefined;
  /** The greatest age of a cached response in seconds; undefined: no caching. */
  maxAgeS: number | undefined;
}

interface Deps {
  candidates: Candidates;
  catalogue: Pick<Catalogue, "untilReady">;
  prices: PriceCheck;
  passthrough: Passthrough;
  ledger: Ledger;
  /** Whole micro-USD a day for calls without an account; 0 refuses them. */
  budget: number;
  /** Returns a cached response, or sends the call. */
  cachedCall: CachedCalls;
}

/** Both calls return the provider's response. Before its first byte they throw 401, 402, 404, 503, or the errors of `passthrough.ts`. */
export function createApiCalls({ candidates, catalogue, prices, passthrough, ledger, budget, cachedCall }: Deps) {
  const scopes: readonly BudgetScope[] = [{ of: "public", period: "day", limit: budget }];

  /** Throws 401 for a refused caller. The promise resolves when the catalogue is ready for first calls. */
  function admitCaller(userId: string | undefined): Promise<void> | undefined {
    if (budget === 0 && userId === undefined) {
      throw unauthorized("Use without an account is turned off here. Send an API key, or sign in.");
    }
    return catalogue.untilReady();
  }

  /** Returns a cached response if the caller accepts one; otherwise makes a paid call. */
  async function callThroughCache(
    apiCall: ApiCall<object>,
    eligible: readonly Candidate[],
    outputTokens: number,
    passThrough: (call: PassthroughCall) => Promise<Response>,
  ): Promise<Response> {
    const first = eligible[0];
    if (!first) throw noProviderError();
    const { text, body, userId, maxAgeS } = apiCall;
    const call = { kind: userId === undefined ? "public" : "api", userId, ...servedBy(first) } as const;
    const sendCall = () => reserveAndCall(apiCall, call, eligible, outputTokens, passThrough);
    return maxAgeS === undefined ? sendCall() : cachedCall({ text, body, call, maxAgeS }, sendCall);
  }

  /** Reserves the cost of the most expensive candidate, then settles the cost of the one that responded. */
  async function reserveAndCall(
    { text, signal, userId }: ApiCall<object>,
    call: LedgerCall,
    eligible: readonly Candidate[],
    outputTokens: number,
    passThrough: (call: PassthroughCall) => Promise<Response>,
  ): Promise<Response> {
    const inputTokens = estimateTokensUpperBound(text);
    let maxMicroUsd = 0;
    for (const { pricing } of eligible)
      maxMicroUsd = Math.max(maxMicroUsd, costMicroUsd(pricing, inputTokens, outputTokens));
    // Accounts pay from their plan and credits; the public budget is for calls without an account.
    const limits = userId === undefined ? scopes : [];
    const expected = { inputTokens, outputTokens };
    const reserved = ledger.reserve(call, limits, maxMicroUsd, expected);
    const reservation = reserved instanceof Promise ? await reserved : reserved;
    const started = performance.now();
    try {
      return await passThrough({
        text,
        candidates: eligible,
        signal,
        onSettled: ({ candidate, latencyMs, ...usage }) => reservation.record(usage, latencyMs, servedBy(candidate)),
      });
    } catch (error) {
      const latencyMs = performance.now() - started;
      if (mayHaveBeenBilled(error)) await reservation.record(estimateUnansweredUsage(expected, latencyMs), latencyMs);
      else reservation.release();
      throw error;
    }
  }

  return {
    async chat(call: ApiCall<ChatBody>): Promise<Response> {
      const ready = admitCaller(call.userId);
      if (ready) await whileConnected(ready, call);
      const { body } = call;
      const { model, taskType } = body;
      const forTask = model ? [] : await whileConnected(candidates.forTask(taskType ?? "general"), call);
      const priced = prices.priced(() => (model ? candidates.forModel(model) : forTask));
      const eligible = priced instanceof Promise ? await whileConnected(priced, call) : priced;
      const requestedTokens = Math.max(body.max_tokens ?? 0, body.max_completion_tokens ?? 0) || MAX_API_TOKENS;
      const output = Math.min(requestedTokens, MAX_API_TOKENS) * (body.n ?? 1);
      const apiCall = body.stream === true ? { ...call, maxAgeS: undefined } : call;
      return callThroughCache(apiCall, eligible, output, (passthroughCall) =>
        passthrough.chat({ ...passthroughCall, body, maxTokens: MAX_API_TOKENS }),
      );
    },

    async embeddings(call: ApiCall<EmbeddingsBody>): Promise<Response> {
      const ready = admitCaller(call.userId);
      if (ready) await whileConnected(ready, call);
      const { body } = call;
      const priced = prices.priced(() => candidates.forEmbedding(body.model));
      const eligible = priced instanceof Promise ? await whileConnected(priced, call) : priced;
      return callThroughCache(call, eligible, 0, (passthroughCall) =>
        passthrough.embeddings({ ...passthroughCall, body }),
      );
    },
  };
}

/** Rejects with 499 as soon as the client disconnects. */
const whileConnected = <Result>(work: Promise<Result>, { signal }: Pick<ApiCall<object>, "signal">) =>
  abortable(work, signal, clientClosedError);

const servedBy = ({ upstream, modelId, pricing }: Candidate) => ({ provider: upstream.provider, modelId, pricing });
