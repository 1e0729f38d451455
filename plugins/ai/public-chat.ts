// Calls for everyone on the operator's keys: which provider, within which budget, with how many tokens.
import { unauthorized } from "../../src/errors.ts";
import type { Candidate, Candidates } from "./candidates.ts";
import type { Catalogue } from "./catalogue.ts";
import type { ChatBody } from "./chat-request.ts";
import type { EmbeddingsBody } from "./embeddings-request.ts";
import type { Gateway, PassedCall } from "./gateway.ts";
import type { CallOf, Ledger, Scope } from "./ledger.ts";
import { cautiousTokens, costMicroUsd } from "./pricing.ts";
import { mayHaveCost, noProvider } from "./refusals.ts";
import type { CachedCalls } from "./response-cache-calls.ts";
import { unansweredUsage } from "./usage.ts";

/** The most tokens one may ask for here. Contract §7. */
export const MAX_PUBLIC_TOKENS = 4_096;

export interface PublicCall<Body> {
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
  catalogue: Pick<Catalogue, "settling">;
  gateway: Gateway;
  ledger: Ledger;
  /** Whole micro-USD a day; 0: nobody without an account. */
  budget: number;
  /** Answers from the cache, or asks. */
  cached: CachedCalls;
}

/** Both answer with the provider's response, and throw 401, 402, 404, or what the gateway throws, before the first byte. */
export function createPublicCalls({ candidates, catalogue, gateway, ledger, budget, cached }: Deps) {
  const scopes: readonly Scope[] = [{ of: "public", period: "day", limit: budget }];

  /** Who may call, and what has to be awaited before it is known who serves what. */
  function admit(userId: string | undefined): Promise<void> | undefined {
    if (budget === 0 && userId === undefined) {
      throw unauthorized("Use without an account is turned off here. Send an API key, or sign in.");
    }
    return catalogue.settling();
  }

  /** A kept answer where one is wanted and there; else a call that is paid for. */
  async function answered(
    asked: PublicCall<object>,
    able: readonly Candidate[],
    outputTokens: number,
    pass: (call: PassedCall) => Promise<Response>,
  ): Promise<Response> {
    const first = able[0];
    if (!first) throw noProvider();
    const { text, body, userId, maxAgeS } = asked;
    const call = { kind: userId === undefined ? "public" : "api", userId, ...served(first) } as const;
    const ask = () => paid(asked, call, able, outputTokens, pass);
    return maxAgeS === undefined ? ask() : cached({ text, body, call, maxAgeS }, ask);
  }

  /** Sets aside what the dearest of those that may answer can cost, and settles what the one that did has cost. */
  async function paid(
    { text, signal, userId }: PublicCall<object>,
    call: CallOf,
    able: readonly Candidate[],
    outputTokens: number,
    pass: (call: PassedCall) => Promise<Response>,
  ): Promise<Response> {
    const inputTokens = cautiousTokens(text);
    let most = 0;
    for (const { pricing } of able) most = Math.max(most, costMicroUsd(pricing, inputTokens, outputTokens));
    // Whoever is known pays from the own plan and credits; the public budget is everybody else's.
    const limits = userId === undefined ? scopes : [];
    const expected = { inputTokens, outputTokens };
    const reserved = ledger.reserve(call, limits, most, expected);
    const spending = reserved instanceof Promise ? await reserved : reserved;
    const started = performance.now();
    try {
      return await pass({
        text,
        candidates: able,
        signal,
        settled: ({ candidate, latencyMs, ...usage }) => spending.record(usage, latencyMs, served(candidate)),
      });
    } catch (error) {
      const latencyMs = performance.now() - started;
      if (mayHaveCost(error)) await spending.record(unansweredUsage(expected, latencyMs), latencyMs);
      else spending.release();
      throw error;
    }
  }

  return {
    async chat(call: PublicCall<ChatBody>): Promise<Response> {
      const settling = admit(call.userId);
      if (settling) await settling;
      const { body } = call;
      const able = body.model ? candidates.of(body.model) : await candidates.forTask(body.taskType ?? "general");
      const wanted = Math.max(body.max_tokens ?? 0, body.max_completion_tokens ?? 0) || MAX_PUBLIC_TOKENS;
      const output = Math.min(wanted, MAX_PUBLIC_TOKENS) * (body.n ?? 1);
      const asked = body.stream === true ? { ...call, maxAgeS: undefined } : call;
      return answered(asked, able, output, (passed) => gateway.chat({ ...passed, body, maxTokens: MAX_PUBLIC_TOKENS }));
    },

    async embeddings(call: PublicCall<EmbeddingsBody>): Promise<Response> {
      await admit(call.userId);
      const { body } = call;
      return answered(call, candidates.embedding(body.model), 0, (passed) => gateway.embeddings({ ...passed, body }));
    },
  };
}

const served = ({ upstream, modelId, pricing }: Candidate) => ({ provider: upstream.provider, modelId, pricing });
