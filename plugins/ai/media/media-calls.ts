// Makes calls of models that take or make sound or pictures: reserves the cost, calls the candidates in turn, and pays.
import type { Statement } from "../../../src/kernel/database/database.ts";
import { MINUTE } from "../../../src/kernel/util/time.ts";
import type { ProviderCalls } from "../calls/provider-calls.ts";
import { createKeyPattern, errorFromResponse, mayHaveBeenBilled } from "../calls/provider-errors.ts";
import { type AgentBudget, agentScopes } from "../ledger/budgets.ts";
import type { BudgetScope, Ledger, LedgerCall, Reservation } from "../ledger/ledger.ts";
import { FREE } from "../providers/pricing.ts";
import { authHeaders } from "../providers/providers.ts";
import type { ProviderRegistry } from "../providers/registry.ts";
import type { CallUsage } from "../providers/token-usage.ts";
import type { MediaCandidate, MediaChoice } from "./media-models.ts";

/** An agent whose turn makes a call. */
export interface AgentPayer {
  agent: { id: string; userId: string };
  /** The inbox entry of the turn. */
  turnId: string;
  budget: AgentBudget | undefined;
}

/** An API client: its account, or the public budget. */
export interface ApiPayer {
  userId: string | undefined;
  /** Whole micro-USD a day for all calls without an account. */
  publicBudget: number;
}

/** Who pays for a call. */
export type MediaPayer = AgentPayer | ApiPayer;

/** A call that has succeeded and is still to be paid: by `statement` in the batch of its effect, else by `record`. */
export interface MediaPayment {
  statement(): Statement;
  /** Resolves when the row would survive a crash. */
  record(): Promise<void>;
}

/** What a provider counted, and what it costs in USD. */
export interface MediaUsage {
  inputTokens: number;
  outputTokens: number;
  usd: number;
}

export interface MediaRequest<Model, Result> extends MediaChoice<Model> {
  payer: MediaPayer;
  path: string;
  bodyFor(candidate: MediaCandidate<Model>): { body: FormData | string; headers?: Record<string, string> };
  /** The most that it may cost at a candidate, in USD. */
  mostUsd(candidate: MediaCandidate<Model>): number;
  /** Reads a response that succeeded. */
  read(response: Response, candidate: MediaCandidate<Model>): Promise<{ result: Result; usage: MediaUsage }>;
  signal: AbortSignal;
}

export interface MediaAnswer<Result> {
  result: Result;
  /** `provider_N:id` */
  model: string;
  payment: MediaPayment;
}

interface Deps {
  calls: ProviderCalls;
  ledger: Pick<Ledger, "reserve">;
  registry: ProviderRegistry;
}

const TIMEOUT_MS = 2 * MINUTE;
const toMicroUsd = (usd: number) => Math.ceil(usd * 1e6);

export function createMediaCalls({ calls, ledger, registry }: Deps) {
  const keyPattern = createKeyPattern(registry);

  /** @throws AppError 402 `BUDGET_EXCEEDED` before the call, and those of `calls/provider-calls.ts` */
  return async <Model, Result>(request: MediaRequest<Model, Result>): Promise<MediaAnswer<Result>> => {
    const { candidates, ownKey, payer, signal } = request;
    const [first] = candidates;
    if (!first) throw new Error("A call needs a candidate.");
    const servedBy = ({ upstream: { provider }, modelId }: MediaCandidate<Model>) => ({
      provider,
      modelId,
      pricing: FREE,
    });
    const mostMicroUsd = Math.max(...candidates.map((one) => toMicroUsd(request.mostUsd(one))));
    const call = { ...callOf(payer), ownKey, ...servedBy(first) };
    const reservation = await ledger.reserve(call, scopesOf(payer), mostMicroUsd);
    const started = performance.now();
    const elapsedMs = () => Math.round(performance.now() - started);
    const byId = new Map(candidates.map((one) => [one.upstream, one]));
    try {
      return await calls.request({
        candidates,
        signal,
        timeoutMs: TIMEOUT_MS,
        send({ upstream }, aborted) {
          const { body, headers } = request.bodyFor(byId.get(upstream) ?? first);
          const init = { method: "POST", body, headers: { ...headers, ...authHeaders(upstream) }, signal: aborted };
          // A redirect would send the key to another address.
          return upstream.fetch(upstream.baseUrl + request.path, { ...init, redirect: "manual" });
        },
        async receive({ response, candidate, markEnded }) {
          if (!response.ok) throw await errorFromResponse(response, candidate.upstream, keyPattern);
          const served = byId.get(candidate.upstream) ?? first;
          const { result, usage } = await request.read(response, served);
          markEnded();
          const model = `${served.upstream.provider}:${served.modelId}`;
          return { result, model, payment: paymentOf(reservation, usage, elapsedMs(), servedBy(served)) };
        },
      });
    } catch (error) {
      if (mayHaveBeenBilled(error)) await reservation.record(unanswered(mostMicroUsd), elapsedMs());
      else reservation.release();
      throw error;
    }
  };
}

export type MediaCalls = ReturnType<typeof createMediaCalls>;

function callOf(payer: MediaPayer): Pick<LedgerCall, "kind" | "userId" | "agentId" | "turnId"> {
  if (!("agent" in payer)) return { kind: payer.userId === undefined ? "public" : "api", userId: payer.userId };
  const { agent, turnId } = payer;
  return { kind: "turn", agentId: agent.id, userId: agent.userId, turnId };
}

/** Accounts pay for API calls from their plan and credits; the public budget is for calls without an account. */
function scopesOf(payer: MediaPayer): readonly BudgetScope[] {
  if ("agent" in payer) return agentScopes(payer.agent.id, payer.budget);
  return payer.userId === undefined ? [{ of: "public", period: "day", limit: payer.publicBudget }] : [];
}

function paymentOf(
  reservation: Reservation,
  { inputTokens, outputTokens, usd }: MediaUsage,
  latencyMs: number,
  served: Parameters<Reservation["settleStatement"]>[2],
): MediaPayment {
  const usage: CallUsage = { inputTokens, outputTokens, estimated: false, chargedMicroUsd: toMicroUsd(usd) };
  return {
    statement: () => reservation.settleStatement(usage, latencyMs, served),
    record: async () => reservation.record(usage, latencyMs, served),
  };
}

/** The usage of a call that ended without an answer: its cost is unknown, so it is an estimate. */
const unanswered = (microUsd: number): CallUsage => ({
  inputTokens: 0,
  outputTokens: 0,
  estimated: true,
  chargedMicroUsd: microUsd,
});
