// What a call of the model used: as the provider counted it, else estimated.
import type { LanguageModelV4Prompt, LanguageModelV4Usage } from "@ai-sdk/provider";
import { promptSize } from "../ai/index.ts";

/** Tokens. */
export interface Usage {
  inputTokens: number;
  outputTokens: number;
  /** The provider didn't say, or didn't say all. */
  estimated: boolean;
}

interface Answer {
  usage: LanguageModelV4Usage | undefined;
  text: string;
  calls: readonly { input: string }[];
}

/** Characters a token has, roughly. */
const CHARACTERS_PER_TOKEN = 4;

/** More than any call has. */
const MAX_TOKENS = 1_000_000_000;

/** Some providers count wrongly; what can't be a count is none. */
const counted = (total: number | undefined) =>
  total !== undefined && Number.isInteger(total) && total >= 0 && total <= MAX_TOKENS ? total : undefined;

export function usageOf({ usage, text, calls }: Answer, prompt: LanguageModelV4Prompt): Usage {
  const input = counted(usage?.inputTokens.total);
  const output = counted(usage?.outputTokens.total);
  const said = text.length + calls.reduce((sum, call) => sum + call.input.length, 0);
  return {
    inputTokens: input ?? guessed(prompt),
    outputTokens: output ?? Math.ceil(said / CHARACTERS_PER_TOKEN),
    estimated: input === undefined || output === undefined,
  };
}

function guessed(prompt: LanguageModelV4Prompt): number {
  const { text, fileTokens } = promptSize(prompt);
  return Math.ceil(text.length / CHARACTERS_PER_TOKEN) + fileTokens;
}
