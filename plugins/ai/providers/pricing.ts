// Computes exact costs of tokens: prices are whole micro-USD per million tokens, so one unit is 1e-12 USD per token.

/** Whole micro-USD per million tokens (3 USD per million is 3_000_000), which is 1e-12 USD per token. */
export interface Pricing extends SpecialPrices {
  readonly input: number;
  readonly output: number;
}

/** Prices that some providers' lists name besides; 1e-12 USD per token, picture or call. */
export interface SpecialPrices {
  readonly cacheRead?: number;
  readonly cacheWrite?: number;
  readonly audioInput?: number;
  readonly audioOutput?: number;
  readonly imageOutput?: number;
  /** Per picture in a request, beside its tokens. */
  readonly image?: number;
  /** Per call. */
  readonly request?: number;
}

const SPECIAL_KEYS = [
  "cacheRead",
  "cacheWrite",
  "audioInput",
  "audioOutput",
  "imageOutput",
  "image",
  "request",
] as const satisfies (keyof SpecialPrices)[];

/** The tokens of a call. Those with a price of their own are part of the first two. */
export interface BilledTokens {
  inputTokens: number;
  outputTokens: number;
  cacheReadTokens?: number;
  cacheWriteTokens?: number;
  audioInputTokens?: number;
  audioOutputTokens?: number;
  imageOutputTokens?: number;
}

/** Where the list names no price: the dearest of the known providers, as multiples of the price of text. */
const CACHE_WRITE_FACTOR = 2; // one hour at Anthropic: https://docs.anthropic.com/en/docs/build-with-claude/prompt-caching
const AUDIO_INPUT_FACTOR = 17; // https://platform.openai.com/docs/pricing: gpt-audio-mini
const AUDIO_OUTPUT_FACTOR = 9;
const IMAGE_OUTPUT_FACTOR = 12; // https://ai.google.dev/gemini-api/docs/pricing: gemini-2.5-flash-image

export const FREE: Pricing = { input: 0, output: 0 };

/** The least at which a model is counted whose price is not known. */
const LEAST_UNKNOWN: Pricing = { input: 5_000_000, output: 25_000_000 };

/**
 * The price at which a model is counted whose price is not known: the dearest of these, so that nothing is underestimated.
 * A special price is left out if none of these has it; it is no lower than what is assumed for those of these that lack it.
 */
export function dearestOf(known: readonly Pricing[]): Pricing {
  const most = (key: keyof Pricing, least = 0) => known.reduce((high, one) => Math.max(high, one[key] ?? 0), least);
  const input = most("input", LEAST_UNKNOWN.input);
  const output = most("output", LEAST_UNKNOWN.output);
  const leastByKey: Required<SpecialPrices> = {
    cacheRead: input,
    cacheWrite: CACHE_WRITE_FACTOR * input,
    audioInput: AUDIO_INPUT_FACTOR * input,
    audioOutput: AUDIO_OUTPUT_FACTOR * output,
    // Not a multiple: reservations count every token at this price, and most models write no pictures.
    imageOutput: output,
    image: 0,
    request: 0,
  };
  const dearest: { -readonly [Key in keyof Pricing]: Pricing[Key] } = { input, output };
  for (const key of SPECIAL_KEYS) if (known.some((one) => one[key])) dearest[key] = most(key, leastByKey[key]);
  return dearest;
}

/** Converts USD per million tokens, the unit of price lists. */
export const fromUsdPerMillion = (usd: number) => Math.round(usd * 1e6);

/** Converts USD per token, the unit of OpenRouter's list ("0.000003"); undefined for other values ("-1" means "varies"). */
export function fromUsdPerToken(usd: unknown): number | undefined {
  if (typeof usd !== "string" && typeof usd !== "number") return undefined;
  const price = Number(usd);
  return Number.isFinite(price) && price >= 0 && usd !== "" ? Math.round(price * 1e12) : undefined;
}

const PICO_PER_MICRO = 1_000_000n;

function picoUsd(pricing: Pricing, inputTokens: number, outputTokens: number): bigint {
  return BigInt(inputTokens) * BigInt(pricing.input) + BigInt(outputTokens) * BigInt(pricing.output);
}

/** Whole micro-USD, rounded half up. Token counts are whole and not negative. */
export function costMicroUsd(pricing: Pricing, inputTokens: number, outputTokens: number): number {
  // Doubles are exact up to 2^53 pico-USD, which is 9,007 USD for one call; larger sums need big integers.
  const { request = 0 } = pricing;
  const pico = inputTokens * pricing.input + outputTokens * pricing.output + request;
  if (pico <= Number.MAX_SAFE_INTEGER - 500_000) return Math.floor((pico + 500_000) / 1e6);
  const exact = picoUsd(pricing, inputTokens, outputTokens) + BigInt(request);
  return Number((exact + PICO_PER_MICRO / 2n) / PICO_PER_MICRO);
}

/** Whole micro-USD of a call, with the tokens that have a price of their own. */
export function costOfTokens(pricing: Pricing, tokens: BilledTokens): number {
  const { inputTokens, outputTokens } = tokens;
  const { cacheReadTokens = 0, cacheWriteTokens = 0, audioInputTokens = 0 } = tokens;
  const { audioOutputTokens = 0, imageOutputTokens = 0 } = tokens;
  const specialInput = cacheReadTokens + cacheWriteTokens + audioInputTokens;
  const specialOutput = audioOutputTokens + imageOutputTokens;
  // Some providers don't count special tokens among all tokens: they are billed nevertheless.
  const text = costMicroUsd(
    pricing,
    Math.max(0, inputTokens - specialInput),
    Math.max(0, outputTokens - specialOutput),
  );
  if (specialInput + specialOutput === 0) return text;
  const { input, output, cacheRead = input, cacheWrite = CACHE_WRITE_FACTOR * input } = pricing;
  const { audioInput = AUDIO_INPUT_FACTOR * input, audioOutput = AUDIO_OUTPUT_FACTOR * output } = pricing;
  const { imageOutput = IMAGE_OUTPUT_FACTOR * output } = pricing;
  return (
    text +
    costMicroUsd({ input: cacheRead, output: cacheWrite }, cacheReadTokens, cacheWriteTokens) +
    costMicroUsd({ input: audioInput, output: audioOutput }, audioInputTokens, audioOutputTokens) +
    costMicroUsd({ input: 0, output: imageOutput }, 0, imageOutputTokens)
  );
}

/** What a request may use at most, for the reservation before the call. */
export interface MaxUsage {
  inputTokens: number;
  outputTokens: number;
  audioInputTokens: number;
  pictures: number;
  /** The request asks the provider to keep a part of it. */
  writesCache: boolean;
}

/** Whole micro-USD that a call may cost at most. */
export function maxCostMicroUsd(pricing: Pricing, usage: MaxUsage): number {
  const { inputTokens, outputTokens, audioInputTokens, pictures, writesCache } = usage;
  const { input, output, cacheWrite = 0, imageOutput = 0, image = 0 } = pricing;
  const dearest = {
    ...pricing,
    input: writesCache ? Math.max(cacheWrite, CACHE_WRITE_FACTOR * input) : input,
    output: Math.max(output, imageOutput),
    request: (pricing.request ?? 0) + pictures * image,
  };
  return costOfTokens(dearest, { inputTokens, outputTokens, audioInputTokens });
}

/** USD as the nearest double to the sum rounded half up to 1e-9. Token counts are whole and not negative. */
export function costUsd(pricing: Pricing, inputTokens: number, outputTokens: number): number {
  const nano = (picoUsd(pricing, inputTokens, outputTokens) + 500n) / 1000n;
  const digits = nano.toString().padStart(10, "0");
  return Number(`${digits.slice(0, -9)}.${digits.slice(-9)}`);
}

/** Estimates the tokens of a text of this many characters: four per token, as in OpenAI's help pages. */
export const estimateTokens = (characters: number) => Math.ceil(characters / 4);

const COUNTED_CHARACTERS = 2_000_000;

/**
 * A high estimate, for the reservation before a call. Words have at most one token for two letters, digits and signs one
 * each, and letters beyond ASCII two. Prose has half of it.
 */
export function estimateTokensUpperBound(text: string): number {
  // No model has room for it: the bound need not be a close one, and counting would take long.
  if (text.length > COUNTED_CHARACTERS) return Math.ceil(text.length * 1.5);
  let halves = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    const isLetter = (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || code === 32;
    halves += isLetter ? 1 : code < 128 ? 2 : 3;
  }
  return Math.ceil(halves / 2);
}
