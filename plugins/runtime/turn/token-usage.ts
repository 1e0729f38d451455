// What a call of the model used: as the provider counted it, else estimated.
import type { LanguageModelV4Prompt, LanguageModelV4Usage } from "@ai-sdk/provider";
import { promptSize } from "../../ai/index.ts";

/** Tokens. */
export interface TokenUsage {
  inputTokens: number;
  outputTokens: number;
  /** The provider didn't say, or didn't say all. */
  estimated: boolean;
}

interface ModelAnswer {
  usage: LanguageModelV4Usage | undefined;
  text: string;
  calls: readonly { input: string }[];
}

/** Characters a token has, roughly. */
const CHARACTERS_PER_TOKEN = 4;

/** More than any call has. */
const MAX_TOKENS = 1_000_000_000;

/** Some providers count wrongly; what can't be a count is none. */
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
