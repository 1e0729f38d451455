// Chat for everyone on the operator's keys: which provider, within which budget, with how many tokens.
import { AppError, unauthorized } from "../../src/errors.ts";
import type { Candidate, Catalogue } from "./catalogue.ts";
import type { ChatBody } from "./chat-request.ts";
import type { Gateway, Settled } from "./gateway.ts";
import type { Ledger, Scope } from "./ledger.ts";
import { costMicroUsd, estimateTokens } from "./pricing.ts";

/** The most tokens one may ask for here. Contract §7. */
export const MAX_PUBLIC_TOKENS = 4_096;

export interface PublicChat {
  /** The request body as it came, and what it says (checked). */
  text: string;
  body: ChatBody;
  signal: AbortSignal;
  /** Who calls, if that is known. */
  userId: string | undefined;
}

interface Deps {
  catalogue: Catalogue;
  gateway: Gateway;
  ledger: Ledger;
  /** Whole micro-USD a day; 0: nobody without an account. */
  budget: number;
}

/** Answers with the provider's response. Throws 401, 402, 404, or what the gateway throws, before the first byte. */
export function createPublicChat({ catalogue, gateway, ledger, budget }: Deps) {
  const scopes: readonly Scope[] = [{ of: "public", period: "day", limit: budget }];

  async function candidatesFor({ model, taskType }: ChatBody): Promise<readonly Candidate[]> {
    if (model) return catalogue.resolve(model);
    const chosen = await catalogue.select(taskType ?? "general");
    if (!chosen) throw noModels();
    const [first] = catalogue.resolve(`${chosen.provider}:${chosen.id}`);
    const others = catalogue.resolve(chosen.id).filter(({ upstream }) => upstream !== first?.upstream);
    return first ? [first, ...others] : others;
  }

  return async ({ text, body, signal, userId }: PublicChat): Promise<Response> => {
    if (budget === 0 && userId === undefined) {
      throw unauthorized("Use without an account is turned off here. Send an API key, or sign in.");
    }
    const settling = catalogue.settling();
    if (settling) await settling;
    const candidates = await candidatesFor(body);
    const first = candidates[0];
    if (!first) throw noModels();
    const { upstream, modelId, pricing } = first;
    const call = {
      kind: userId === undefined ? "public" : "api",
      userId,
      provider: upstream.provider,
      modelId,
      pricing,
    } as const;
    const reserved = ledger.reserve(call, scopes, mostItCosts(text, body, candidates));
    const spending = reserved instanceof Promise ? await reserved : reserved;
    const settled = ({ candidate, latencyMs, ...usage }: Settled) =>
      spending.record(usage, latencyMs, {
        provider: candidate.upstream.provider,
        modelId: candidate.modelId,
        pricing: candidate.pricing,
      });
    try {
      return await gateway.chat({ text, body, candidates, signal, maxTokens: MAX_PUBLIC_TOKENS, settled });
    } catch (error) {
      spending.release();
      throw error;
    }
  };
}

const noModels = () => new AppError(404, "NO_MODELS", "No configured provider serves such a model.");

/** What the call can cost with the dearest of those that may answer, as far as it can be told before. */
function mostItCosts(text: string, body: ChatBody, candidates: readonly Candidate[]): number {
  const asked = Math.max(body.max_tokens ?? 0, body.max_completion_tokens ?? 0) || MAX_PUBLIC_TOKENS;
  const output = Math.min(asked, MAX_PUBLIC_TOKENS) * (body.n ?? 1);
  const input = estimateTokens(text.length);
  let most = 0;
  for (const { pricing } of candidates) most = Math.max(most, costMicroUsd(pricing, input, output));
  return most;
}
