// Counts the tokens of a call of the model as its provider reports them, and estimates missing counts.
import type { LanguageModelV4Prompt, LanguageModelV4Usage } from "@ai-sdk/provider";
import { promptSize } from "../../ai/index.ts";

/** Tokens. */
export interface TokenUsage {
  inputTokens: number;
  outputTokens: number;
  /** Whether the provider left out a count. */
  estimated: boolean;
}

interface ModelAnswer {
  usage: LanguageModelV4Usage | undefined;
  text: string;
  calls: readonly { input: string }[];
}

/** Characters of a token, roughly. */
export const CHARACTERS_PER_TOKEN = 4;

/** No call uses more. */
const MAX_TOKENS = 1_000_000_000;

/** Some providers report values that can't be counts: these are ignored. */
const validCount = (total: number | undefined) =>
  total !== undefined && Number.isInteger(total) && total >= 0 && total <= MAX_TOKENS ? total : undefined;

export function tokenUsage({ usage, text, calls }: ModelAnswer, prompt: LanguageModelV4Prompt): TokenUsage {
  const input = validCount(usage?.inputTokens.total);
  const output = validCount(usage?.outputTokens.total);
  const outputCharacters = text.length + calls.reduce((sum, call) => sum + call.input.length, 0);
  return {
    inputTokens: input ?? estimateInputTokens(prompt),
    outputTokens: output ?? Math.ceil(outputCharacters / CHARACTERS_PER_TOKEN),
    estimated: input === undefined || output === undefined,
  };
}

function estimateInputTokens(prompt: LanguageModelV4Prompt): number {
  const { text, fileTokens } = promptSize(prompt);
  return Math.ceil(text.length / CHARACTERS_PER_TOKEN) + fileTokens;
}
