// Settles the calls of agents' turns at what their provider charged, which the AI SDK's usage does not say.
import type { LanguageModelV4Prompt } from "@ai-sdk/provider";
import type { TurnAnswer } from "../calls/turn-calls.ts";
import type { Reservation } from "../ledger/ledger.ts";
import type { Candidate } from "../providers/candidates.ts";
import { type CallUsage, estimateUnansweredUsage } from "../providers/token-usage.ts";
import type { SelectServedModel } from "./served-model.ts";

/** A call of a turn: its model, and the most tokens that were reserved for it. */
interface TurnCall {
  candidate: Candidate;
  prompt: LanguageModelV4Prompt;
  expected: { inputTokens: number; outputTokens: number };
}

interface Deps {
  selectServed: SelectServedModel;
  answerTo(prompt: LanguageModelV4Prompt): TurnAnswer | undefined;
}

/** Returns a function that wraps a reservation, so that it is settled by the provider's own response. */
export function createTurnSettlement({ selectServed, answerTo }: Deps) {
  return (reservation: Reservation, { candidate, prompt, expected }: TurnCall): Reservation => {
    const settled = (usage: CallUsage, latencyMs: number) => {
      const { fallback, counted, answeredModel } = answerTo(prompt) ?? {};
      const full = counted ? { ...counted, estimated: false } : usage.estimated ? raise(usage, latencyMs) : usage;
      return [full, latencyMs, selectServed(fallback ?? candidate, full, answeredModel)] as const;
    };
    /** Without a count the call was cut: until then the model may have thought unseen. */
    const raise = (usage: CallUsage, latencyMs: number): CallUsage => {
      const { outputTokens } = estimateUnansweredUsage(expected, latencyMs);
      return { ...usage, outputTokens: Math.max(usage.outputTokens, outputTokens) };
    };
    return {
      settleStatement: (usage, latencyMs) => reservation.settleStatement(...settled(usage, latencyMs)),
      record: (usage, latencyMs) => reservation.record(...settled(usage, latencyMs)),
      release: () => reservation.release(),
    };
  };
}
