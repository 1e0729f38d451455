// Computes exact costs of tokens: prices are whole micro-USD per million tokens, so one unit is 1e-12 USD per token.

/** Whole micro-USD per million tokens (3 USD per million is 3_000_000). */
export interface Pricing {
  readonly input: number;
  readonly output: number;
}

export const FREE: Pricing = { input: 0, output: 0 };

/** The least at which a model is counted whose price is not known. */
const LEAST_UNKNOWN: Pricing = { input: 5_000_000, output: 25_000_000 };

/** The price at which a model is counted whose price is not known: the dearest of these, so that nothing is underestimated. */
export const dearestOf = (known: readonly Pricing[]): Pricing =>
  known.reduce(
    (dearest, { input, output }) => ({
      input: Math.max(dearest.input, input),
      output: Math.max(dearest.output, output),
    }),
    LEAST_UNKNOWN,
  );

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
  const pico = inputTokens * pricing.input + outputTokens * pricing.output;
  if (pico <= Number.MAX_SAFE_INTEGER - 500_000) return Math.floor((pico + 500_000) / 1e6);
  const exact = picoUsd(pricing, inputTokens, outputTokens);
  return Number((exact + PICO_PER_MICRO / 2n) / PICO_PER_MICRO);
}

/** USD as the nearest double to the sum rounded half up to 1e-9. Token counts are whole and not negative. */
export function costUsd(pricing: Pricing, inputTokens: number, outputTokens: number): number {
  const nano = (picoUsd(pricing, inputTokens, outputTokens) + 500n) / 1000n;
  const digits = nano.toString().padStart(10, "0");
  return Number(`${digits.slice(0, -9)}.${digits.slice(-9)}`);
}

/** Estimates the tokens of a text of this many characters: four per token, as in OpenAI's help pages. */
export const estimateTokens = (characters: number) => Math.ceil(characters / 4);

/**
 * A high estimate, for the reservation before a call: a letter beyond ASCII is up to one token, and a picture is about
 * 1,500 (OpenAI's guide to vision: 85 to 1,445 for the models that count highest).
 */
export function estimateTokensUpperBound(text: string): number {
  let imageCount = 0;
  for (let at = text.indexOf(IMAGE_PART_KEY); at !== -1; at = text.indexOf(IMAGE_PART_KEY, at + IMAGE_PART_KEY.length))
    imageCount++;
  return Math.ceil(text.length / 4 + (Buffer.byteLength(text) - text.length) / 2) + 1_500 * imageCount;
}
const IMAGE_PART_KEY = '"image_url":';
