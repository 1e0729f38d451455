// Calls for everyone on the operator's keys: which provider, within which budget, with how many tokens.
import { unauthorized } from "../../../src/kernel/errors.ts";
import type { CachedCalls } from "../cache/cached-calls.ts";
import type { BudgetScope, Ledger, LedgerCall } from "../ledger/ledger.ts";
import type { Candidate, Candidates } from "../providers/candidates.ts";
import type { Catalogue } from "../providers/catalogue.ts";
import { costMicroUsd, estimateTokensUpperBound } from "../providers/pricing.ts";
import { estimateUnansweredUsage } from "../providers/token-usage.ts";
import type { ChatBody } from "./chat-request.ts";
import type { EmbeddingsBody } from "./embeddings-request.ts";
import type { Passthrough, PassthroughCall } from "./passthrough.ts";
import { mayHaveBeenBilled, noProviderError } from "./provider-errors.ts";

/** The most tokens one may ask for here. Contract §7. */
export const MAX_API_TOKENS = 4_096;

export interface ApiCall<Body> {
  /** The request body as it came, and what it says (checked). */
  text: string;
  body: Body;
  signal: AbortSignal;
  /** Who calls, if that is known. */
  userId: string | undefined;
  /** Seconds that a kept answer may be old; undefined: none is wanted. */
  maxAgeS: number | undefined;
}

interface Deps {
  candidates: Candidates;
  catalogue: Pick<Catalogue, "untilReady">;
  passthrough: Passthrough;
  ledger: Ledger;
  /** Whole micro-USD a day; 0: nobody without an account. */
  budget: number;
  /** Answers from the cache, or asks. */
  cachedCall: CachedCalls;
}

/** Both answer with the provider's response, and throw 401, 402, 404, or what the gateway throws, before the first byte. */
export function createApiCalls({ candidates, catalogue, passthrough, ledger, budget, cachedCall }: Deps) {
  const scopes: readonly BudgetScope[] = [{ of: "public", period: "day", limit: budget }];

  /** Who may call, and what has to be awaited before it is known who serves what. */
  function admitCaller(userId: string | undefined): Promise<void> | undefined {
    if (budget === 0 && userId === undefined) {
      throw unauthorized("Use without an account is turned off here. Send an API key, or sign in.");
    }
    return catalogue.untilReady();
  }

  /** A kept answer where one is wanted and there; else a call that is paid for. */
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

  /** Sets aside what the dearest of those that may answer can cost, and settles what the one that did has cost. */
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
    // Whoever is known pays from the own plan and credits; the public budget is everybody else's.
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
      if (ready) await ready;
      const { body } = call;
      const eligible = body.model
        ? candidates.forModel(body.model)
        : await candidates.forTask(body.taskType ?? "general");
      const requestedTokens = Math.max(body.max_tokens ?? 0, body.max_completion_tokens ?? 0) || MAX_API_TOKENS;
      const output = Math.min(requestedTokens, MAX_API_TOKENS) * (body.n ?? 1);
      const apiCall = body.stream === true ? { ...call, maxAgeS: undefined } : call;
      return callThroughCache(apiCall, eligible, output, (passthroughCall) =>
        passthrough.chat({ ...passthroughCall, body, maxTokens: MAX_API_TOKENS }),
      );
    },

    async embeddings(call: ApiCall<EmbeddingsBody>): Promise<Response> {
      await admitCaller(call.userId);
      const { body } = call;
      return callThroughCache(call, candidates.forEmbedding(body.model), 0, (passthroughCall) =>
        passthrough.embeddings({ ...passthroughCall, body }),
      );
    },
  };
}

const servedBy = ({ upstream, modelId, pricing }: Candidate) => ({ provider: upstream.provider, modelId, pricing });
