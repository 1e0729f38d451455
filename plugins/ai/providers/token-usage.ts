// Determines the tokens that a call used: from the provider's count, or by an estimate if there is none.
import { jsonValueEnd } from "../../../src/kernel/util/json-text.ts";
import { type BilledTokens, costOfTokens, estimateTokens, type Pricing } from "./pricing.ts";

/** Tokens of one call. `estimated`: computed from lengths, since the provider gave no count. */
export interface CallUsage extends BilledTokens {
  estimated: boolean;
  /** Whole micro-USD that the provider says it charges. */
  chargedMicroUsd?: number;
}

/** Reads USD from a provider's usage object; undefined if it names no cost. */
export type ReadCharge = (usage: Readonly<Record<string, unknown>>) => number | undefined;

/** A provider's count, which has no more than `CallUsage` says. */
export type CountedUsage = Omit<CallUsage, "estimated">;

const USAGE_KEY = Buffer.from('"usage"');
/** Bytes in which the usage object must end; it has a few hundred. */
const MAX_USAGE_BYTES = 8 * 1024;
const CONTENT_KEY = Buffer.from('"content":');

/** The last valid usage object in a JSON text or a part of a stream; undefined if there is none. */
export function findLastUsage(bytes: Buffer, readCharge?: ReadCharge): CountedUsage | undefined {
  for (let at = bytes.lastIndexOf(USAGE_KEY); at !== -1; at = at === 0 ? -1 : bytes.lastIndexOf(USAGE_KEY, at - 1)) {
    const text = bytes.toString("utf8", at + USAGE_KEY.length, at + USAGE_KEY.length + MAX_USAGE_BYTES);
    const open = text.indexOf("{");
    if (open === -1 || text.slice(0, open).trim() !== ":") continue;
    const usage = parseJson(text.slice(open, jsonValueEnd(text, open)));
    const inputTokens = toTokenCount(usage?.prompt_tokens);
    if (!usage || inputTokens === undefined) continue;
    const outputTokens =
      toTokenCount(usage.completion_tokens) ?? Math.max(0, (toTokenCount(usage.total_tokens) ?? 0) - inputTokens);
    const usd = readCharge?.(usage);
    const charged = usd !== undefined && usd >= 0 && usd <= MAX_USD ? { chargedMicroUsd: Math.round(usd * 1e6) } : {};
    return { inputTokens, outputTokens, ...specialTokens(usage), ...charged };
  }
  return undefined;
}

/** A larger charge for one call is taken for an error. */
const MAX_USD = 10_000;

/** The tokens with a price of their own, as OpenAI and OpenRouter name them (https://openrouter.ai/docs/use-cases/usage-accounting). */
function specialTokens(usage: Record<string, unknown>): Partial<BilledTokens> {
  const input = Object(usage.prompt_tokens_details) as Record<string, unknown>;
  const output = Object(usage.completion_tokens_details) as Record<string, unknown>;
  const counts: Partial<BilledTokens> = {};
  const set = (name: keyof BilledTokens, value: unknown) => {
    const count = toTokenCount(value);
    if (count) counts[name] = count;
  };
  set("cacheReadTokens", input.cached_tokens);
  set("cacheWriteTokens", input.cache_write_tokens);
  set("audioInputTokens", input.audio_tokens);
  set("audioOutputTokens", output.audio_tokens);
  set("imageOutputTokens", output.image_tokens);
  return counts;
}

/**
 * Whole micro-USD of a call: the provider's own figure if it gave one, else by the price list. A charge of 0 is not believed
 * for a model with a price, since the provider may be paid in another way.
 */
export const costOfCall = (pricing: Pricing, usage: CallUsage) =>
  usage.chargedMicroUsd ? usage.chargedMicroUsd : costOfTokens(pricing, usage);

const MODEL_KEY = Buffer.from('"model"');
/** Longer ids are not those of a model. */
const MAX_MODEL_BYTES = 300;

/** The id after the first complete `"model":` of a response or a part of it. Inside texts the quotes are escaped. */
export function findModel(bytes: Buffer): string | undefined {
  const at = bytes.indexOf(MODEL_KEY);
  if (at === -1) return undefined;
  const start = at + MODEL_KEY.length;
  return /^\s*:\s*"([^"\\]+)"/.exec(bytes.toString("utf8", start, start + MAX_MODEL_BYTES))?.[1];
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
