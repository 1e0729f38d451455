// Serves the AI API on the operator's keys: selects the candidates, reserves the cost, and settles it after the response.
import { type AppError, unauthorized } from "../../../src/kernel/errors.ts";
import { abortable } from "../../../src/kernel/util/timeout.ts";
import type { CachedCalls } from "../cache/cached-calls.ts";
import {
  findPaidChatField,
  findPaidEmbeddingsField,
  paidFieldError,
  refuseDuplicateKeys,
} from "../cost/request-fields.ts";
import { measureChat, measureEmbeddings } from "../cost/request-usage.ts";
import { createServedModels } from "../cost/served-model.ts";
import type { BudgetScope, Ledger, LedgerCall } from "../ledger/ledger.ts";
import type { Candidate, Candidates } from "../providers/candidates.ts";
import type { Catalogue } from "../providers/catalogue.ts";
import type { PriceCheck } from "../providers/price-check.ts";
import { costMicroUsd, FREE, type MaxUsage, maxCostMicroUsd } from "../providers/pricing.ts";
import type { ProviderId } from "../providers/provider.ts";
import { type CallUsage, estimateUnansweredUsage } from "../providers/token-usage.ts";
import type { ChatBody } from "./chat-request.ts";
import type { EmbeddingsBody } from "./embeddings-request.ts";
import type { Passthrough, PassthroughCall } from "./passthrough.ts";
import { clientClosedError, mayHaveBeenBilled, noProviderError } from "./provider-errors.ts";

const LARGEST_WINDOW = 1_048_576;
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
  /** Makes the response; default: a plain one. */
  respond?: PassthroughCall["respond"];
}

interface Deps {
  candidates: Candidates;
  catalogue: Pick<Catalogue, "untilReady" | "listKnown" | "entry">;
  prices: PriceCheck;
  passthrough: Passthrough;
  ledger: Ledger;
  /** Whole micro-USD a day for calls without an account; 0 refuses them. */
  budget: number;
  /** Returns a cached response, or sends the call. */
  cachedCall: CachedCalls;
  /** Whether the account may use the operator's keys without limit. */
  isUnlimited(userId: string): Promise<boolean>;
}

interface RequestCheck {
  /** Measures the request; the result computes the most that it may use at a candidate. */
  measure(): (candidate: Candidate) => MaxUsage;
  /** The path of the first field that may cost extra at this candidate. */
  findPaidField(candidate: Candidate): string | undefined;
}

/** Both calls return the provider's response. Before its first byte they throw 401, 402, 404, 503, or the errors of `passthrough.ts`. */
export function createApiCalls({
  candidates,
  catalogue,
  prices,
  passthrough,
  ledger,
  budget,
  cachedCall,
  isUnlimited,
}: Deps) {
  const selectServed = createServedModels({ catalogue });
  const scopes: readonly BudgetScope[] = [{ of: "public", period: "day", limit: budget }];

  /** Throws 401 for a refused caller. The promise resolves when the catalogue is ready for first calls. */
  function admitCaller(userId: string | undefined): Promise<void> | undefined {
    if (budget === 0 && userId === undefined) {
      throw unauthorized("Use without an account is turned off here. Send an API key, or sign in.");
    }
    return catalogue.untilReady();
  }

  /** The error for a field that may cost extra, unless an account without a limit pays. */
  function paidFieldRefusal(eligible: readonly Candidate[], { findPaidField }: RequestCheck): AppError | undefined {
    for (const candidate of eligible) {
      const { definition, demo, local } = candidate.upstream;
      const field = demo || local ? undefined : findPaidField(candidate);
      if (field !== undefined) return paidFieldError(field, definition);
    }
    return undefined;
  }

  /** Whether the id has options that change its price, as no listed id does. */
  const isPricedVariant = ({ upstream: { definition }, modelId }: Candidate) =>
    definition.pricedVariants?.test(modelId) === true &&
    !catalogue.listKnown().some(({ provider, id }) => provider === definition.id && id === modelId);

  /** Returns a cached response if the caller accepts one; otherwise makes a paid call. */
  async function callThroughCache(
    apiCall: ApiCall<object>,
    eligible: readonly Candidate[],
    check: RequestCheck,
    passThrough: (call: PassthroughCall) => Promise<Response>,
  ): Promise<Response> {
    const first = eligible[0];
    if (!first) throw noProviderError();
    const { text, body, userId, maxAgeS } = apiCall;
    refuseDuplicateKeys(text, body);
    const refusal = paidFieldRefusal(eligible, check);
    if (refusal && !(userId !== undefined && (await isUnlimited(userId)))) throw refusal;
    const call = { kind: userId === undefined ? "public" : "api", userId, ...servedBy(first) } as const;
    const sendCall = () => reserveAndCall(apiCall, call, eligible, check, passThrough);
    return maxAgeS === undefined ? sendCall() : cachedCall({ text, body, call, maxAgeS }, sendCall);
  }

  /** Reserves the cost of the most expensive candidate, then settles the cost of the one that responded. */
  async function reserveAndCall(
    { text, signal, userId, respond }: ApiCall<object>,
    call: LedgerCall,
    eligible: readonly Candidate[],
    { measure }: RequestCheck,
    passThrough: (call: PassthroughCall) => Promise<Response>,
  ): Promise<Response> {
    const isFree = eligible.every(({ pricing }) => costMicroUsd(pricing, 1e6, 1e6) === 0);
    const usages = isFree ? [] : eligible.map(measure());
    const costs = usages.map((usage, at) => maxCostMicroUsd(eligible[at]?.pricing ?? FREE, usage));
    const maxMicroUsd = Math.max(0, ...costs);
    /** Of the dearest candidate; a free call is not measured. */
    const expected = usages[costs.indexOf(maxMicroUsd)];
    // Accounts pay from their plan and credits; the public budget is for calls without an account.
    const limits = userId === undefined ? scopes : [];
    const reserved = ledger.reserve(call, limits, maxMicroUsd, expected);
    const reservation = reserved instanceof Promise ? await reserved : reserved;
    const started = performance.now();
    try {
      return await passThrough({
        text,
        candidates: eligible,
        signal,
        respond,
        onSettled({ candidate, latencyMs, usage: counted, answeredModel, isCut }) {
          const usage =
            counted.estimated && expected ? raiseEstimate(counted, expected, isCut ? latencyMs : 0) : counted;
          return reservation.record(usage, latencyMs, selectServed(candidate, usage, answeredModel));
        },
      });
    } catch (error) {
      const latencyMs = performance.now() - started;
      if (mayHaveBeenBilled(error)) {
        const most = expected ?? eligible.map(measure())[0] ?? NO_USAGE;
        await reservation.record(estimateUnansweredUsage(most, latencyMs), latencyMs);
      } else reservation.release();
      throw error;
    }
  }

  /** Tokens; of an unknown model as many as the largest have. */
  function windowOf(provider: ProviderId, modelId: string): number {
    const { contextWindow, windowKnown } = catalogue.entry(provider, modelId);
    return windowKnown ? contextWindow : LARGEST_WINDOW;
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
      const check: RequestCheck = {
        measure() {
          const maxUsage = measureChat(call.text, body, output);
          return ({ upstream: { provider }, modelId }) =>
            maxUsage({ id: modelId, contextWindow: () => windowOf(provider, modelId) });
        },
        findPaidField: (candidate) =>
          isPricedVariant(candidate) ? "model" : findPaidChatField(body, candidate.upstream.definition),
      };
      return callThroughCache(apiCall, eligible, check, (passthroughCall) =>
        passthrough.chat({ ...passthroughCall, body, maxTokens: MAX_API_TOKENS }),
      );
    },

    async embeddings(call: ApiCall<EmbeddingsBody>): Promise<Response> {
      const ready = admitCaller(call.userId);
      if (ready) await whileConnected(ready, call);
      const { body } = call;
      const priced = prices.priced(() => candidates.forEmbedding(body.model));
      const eligible = priced instanceof Promise ? await whileConnected(priced, call) : priced;
      const check: RequestCheck = {
        measure() {
          const usage = measureEmbeddings(call.text, body);
          return () => usage;
        },
        findPaidField: (candidate) => (isPricedVariant(candidate) ? "model" : findPaidEmbeddingsField(body)),
      };
      return callThroughCache(call, eligible, check, (passthroughCall) =>
        passthrough.embeddings({ ...passthroughCall, body }),
      );
    },
  };
}

/** Rejects with 499 as soon as the client disconnects. */
const whileConnected = <Result>(work: Promise<Result>, { signal }: Pick<ApiCall<object>, "signal">) =>
  abortable(work, signal, clientClosedError);

const NO_USAGE: MaxUsage = { inputTokens: 0, outputTokens: 0, audioInputTokens: 0, pictures: 0, writesCache: false };

/**
 * An estimate from a request's text and the part of a response that arrived: raised by files, and by what a model may have
 * thought unseen in the time until the response was cut.
 */
function raiseEstimate(usage: CallUsage, most: MaxUsage, cutAfterMs: number): CallUsage {
  const hasFiles = most.pictures > 0 || most.audioInputTokens > 0;
  const written = estimateUnansweredUsage(most, cutAfterMs).outputTokens;
  return {
    ...usage,
    inputTokens: hasFiles ? Math.max(usage.inputTokens, most.inputTokens) : usage.inputTokens,
    outputTokens: Math.max(usage.outputTokens, written),
    audioInputTokens: most.audioInputTokens,
  };
}

const servedBy = ({ upstream, modelId, pricing }: Candidate) => ({ provider: upstream.provider, modelId, pricing });
