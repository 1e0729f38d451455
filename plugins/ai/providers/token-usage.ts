// Determines the tokens that a call used: from the provider's count, or by an estimate if there is none.
import { jsonValueEnd } from "../../../src/kernel/util/json-text.ts";
import { estimateTokens } from "./pricing.ts";

/** Tokens of one call. `estimated`: computed from lengths, since the provider gave no count. */
export interface CallUsage {
  inputTokens: number;
  outputTokens: number;
  estimated: boolean;
}

const USAGE_KEY = Buffer.from('"usage"');
/** Bytes in which the usage object must end; it has a few hundred. */
const MAX_USAGE_BYTES = 8 * 1024;
const CONTENT_KEY = Buffer.from('"content":');

/** The last valid usage object in a JSON text or a part of a stream; undefined if there is none. */
export function findLastUsage(bytes: Buffer): { inputTokens: number; outputTokens: number } | undefined {
  for (let at = bytes.lastIndexOf(USAGE_KEY); at !== -1; at = at === 0 ? -1 : bytes.lastIndexOf(USAGE_KEY, at - 1)) {
    const text = bytes.toString("utf8", at + USAGE_KEY.length, at + USAGE_KEY.length + MAX_USAGE_BYTES);
    const open = text.indexOf("{");
    if (open === -1 || text.slice(0, open).trim() !== ":") continue;
    const usage = parseJson(text.slice(open, jsonValueEnd(text, open)));
    const inputTokens = toTokenCount(usage?.prompt_tokens);
    if (inputTokens === undefined) continue;
    const outputTokens =
      toTokenCount(usage?.completion_tokens) ?? Math.max(0, (toTokenCount(usage?.total_tokens) ?? 0) - inputTokens);
    return { inputTokens, outputTokens };
  }
  return undefined;
}

/** Estimates usage from the text of the request and the number of characters in the response. */
export const estimateUsage = (requestText: string, responseCharacters: number): CallUsage => ({
  inputTokens: estimateTokens(requestText.length),
  outputTokens: estimateTokens(responseCharacters),
  estimated: true,
});

/** Tokens that a fast model writes per second. */
const TOKENS_PER_SECOND = 100;

/** Estimates usage of a call that was aborted before it responded: its prompt, and the tokens that the model may have written in `ms`. */
export const estimateUnansweredUsage = (
  limits: { inputTokens: number; outputTokens: number },
  ms: number,
): CallUsage => ({
  inputTokens: limits.inputTokens,
  outputTokens: Math.min(limits.outputTokens, Math.ceil((ms / 1000) * TOKENS_PER_SECOND)),
  estimated: true,
});

/** Approximate bytes of response text in this part of a body: the strings after `"content":`. */
export function countContentBytes(part: Buffer): number {
  let sum = 0;
  for (let at = part.indexOf(CONTENT_KEY); at !== -1; at = part.indexOf(CONTENT_KEY, at)) {
    at += CONTENT_KEY.length;
    if (part[at] === 0x20) at++;
    if (part[at] !== 0x22) continue;
    let end = part.indexOf('"', at + 1);
    while (end !== -1 && part[end - 1] === 0x5c) end = part.indexOf('"', end + 1);
    if (end === -1) return sum + part.length - at;
    sum += end - at - 1;
    at = end;
  }
  return sum;
}

function parseJson(json: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(json) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}

/** A larger count of a provider is taken for an error. */
const MAX_TOKENS = 1_000_000_000;

/** Whether a value is a plausible token count: a whole number from 0 to one billion. */
export const isTokenCount = (value: unknown): value is number =>
  Number.isSafeInteger(value) && Number(value) >= 0 && Number(value) <= MAX_TOKENS;

const toTokenCount = (value: unknown) => (isTokenCount(value) ? value : undefined);
