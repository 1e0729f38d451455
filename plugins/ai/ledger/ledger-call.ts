// A call of a model as the ledger sees it: who pays, what it may use, and how it ends.

import type { Statement } from "../../../src/kernel/database/database.ts";
import type { Pricing } from "../providers/pricing.ts";
import type { ProviderId } from "../providers/provider.ts";
import { type CallUsage, isTokenCount } from "../providers/token-usage.ts";

/** The provider and model that served a call, with its price. */
export interface ServedModel {
  readonly provider: ProviderId;
  readonly modelId: string;
  readonly pricing: Pricing;
}

/** A call: its caller and the model that was called. */
export interface LedgerCall extends ServedModel {
  readonly kind: "turn" | "public" | "api";
  /** The account whose plan and credits pay, unless the call is public or on its own key. */
  readonly userId?: string | undefined;
  readonly agentId?: string | undefined;
  /** The turn that makes the call: the id of its row begins with it. */
  readonly turnId?: string | undefined;
  /** The call uses the agent's or its owner's key: they pay the provider; the agent's budget counts nevertheless. */
  readonly ownKey?: boolean | undefined;
}

/** The tokens that a call may use, estimated before it. */
export interface ExpectedTokens {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** A call that has begun. The first of `settleStatement`, `record` and `release` ends it; later ones change no budget. */
export interface Reservation {
  /** Inserts the row of the call, for the batch of its cause. `served`: the fallback that answered, if one did. */
  settleStatement(usage: CallUsage, latencyMs: number, served?: ServedModel): Statement;
  /**
   * Writes the row by itself within 50 ms, for calls that cause no other write, or whose other write failed. Resolves when
   * the row would survive a crash; undefined if it would already, or if the call cost nothing.
   */
  record(usage: CallUsage, latencyMs: number, served?: ServedModel): Promise<void> | undefined;
  /** The call used nothing. */
  release(): void;
}

/** Replaces implausible counts by 0 and marks the usage as estimated; `findLastUsage` has checked the others. */
export function sanitizeUsage({ inputTokens, outputTokens, estimated, ...special }: CallUsage): CallUsage {
  const sane = isTokenCount(inputTokens) && isTokenCount(outputTokens);
  const count = (given: number) => (isTokenCount(given) ? given : 0);
  return {
    ...special,
    inputTokens: count(inputTokens),
    outputTokens: count(outputTokens),
    estimated: estimated || !sane,
  };
}
