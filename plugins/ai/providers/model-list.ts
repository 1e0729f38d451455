// Reads a provider's live list of models, in the known dialects of the OpenAI format.
import { parseInputModalities } from "./input-modalities.ts";
import { fromUsdPerToken, type Pricing, type SpecialPrices } from "./pricing.ts";
import type { InputModality } from "./provider.ts";
import { authHeaders, type Upstream } from "./providers.ts";

export interface ListedModel {
  id: string;
  name?: string;
  description?: string;
  contextWindow?: number;
  pricing?: Pricing;
  /** The kinds of files that it accepts; left out if the list does not say. */
  inputs?: readonly InputModality[];
  /** Whether it can call tools; left out if the list does not say. */
  tools?: boolean;
  /** Turns text into vectors, and does not chat. */
  isEmbedding?: true;
  /** When it came out, as Unix time in seconds; left out if the list does not say. */
  releasedAt?: number;
}

const TIMEOUT_MS = 5_000;
/** OpenRouter's list, the longest, is about half a megabyte. */
const MAX_BYTES = 8 * 1024 * 1024;
const MAX_MODELS = 2_000;

/** Ids of models in the lists of OpenAI, Google and Groq that are not for chat. */
const NON_CHAT_MODELS =
  /embed|whisper|tts|dall-e|image|moderation|audio|realtime|transcribe|guard|sora|orpheus|imagen|veo|aqa|babbage|davinci/i;

/** Statuses after which the list may be had later: a timeout, a rate limit. */
const TEMPORARY_STATUSES = new Set([408, 425, 429]);

/**
 * The chat and embedding models of a provider; undefined if it has no list, or none for this key. Rejects if the list can't
 * be fetched or parsed, or is too long.
 */
export async function fetchModelList(upstream: Upstream): Promise<ListedModel[] | undefined> {
  const response = await upstream.fetch(`${upstream.baseUrl}/models`, {
    headers: { ...authHeaders(upstream), accept: "application/json" },
    redirect: "manual",
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  if (!response.ok) {
    const { status } = response;
    await response.body?.cancel();
    if (status >= 400 && status < 500 && !TEMPORARY_STATUSES.has(status)) return undefined;
    throw new Error(`The list of models was refused with status ${status}.`);
  }
  const list: unknown = JSON.parse(await readTextLimited(response));
  const items = field(list, "data") ?? field(list, "models");
  if (!Array.isArray(items)) return undefined;
  return items.slice(0, MAX_MODELS).flatMap((item: unknown) => parseModel(item) ?? []);
}

async function readTextLimited(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength;
    if (size > MAX_BYTES) throw new Error("The list of models is too long.");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

function parseModel(item: unknown): ListedModel | undefined {
  const raw = text(item, "id") ?? text(item, "name");
  if (!raw) return undefined;
  // Google's ids come as "models/gemini-…"; both forms are accepted there, the short one is what people write.
  const id = raw.replace(/^models\//, "");
  const architecture = field(item, "architecture");
  const outputs = field(architecture, "output_modalities");
  const isEmbedding = /embed/i.test(id);
  const isChat = Array.isArray(outputs) ? outputs.includes("text") : !NON_CHAT_MODELS.test(id);
  if (!(isChat || isEmbedding) || field(item, "active") === false) return undefined;
  const model: ListedModel = isEmbedding ? { id, isEmbedding } : { id };
  const name = text(item, "display_name") ?? text(item, "name");
  if (name) model.name = name;
  const description = text(item, "description");
  if (description) model.description = firstSentence(description);
  const window = field(item, "context_length") ?? field(item, "context_window") ?? field(item, "max_input_tokens");
  if (typeof window === "number" && window > 0) model.contextWindow = Math.floor(window);
  const inputs = parseInputModalities(field(architecture, "input_modalities"));
  if (inputs) model.inputs = inputs;
  const parameters = field(item, "supported_parameters");
  if (Array.isArray(parameters)) model.tools = parameters.includes("tools");
  const releasedAt = secondsOf(field(item, "created") ?? field(item, "created_at"));
  if (releasedAt !== undefined) model.releasedAt = releasedAt;
  const prices = field(item, "pricing");
  const input = fromUsdPerToken(field(prices, "prompt"));
  const output = fromUsdPerToken(field(prices, "completion"));
  if (input !== undefined && output !== undefined) model.pricing = { input, output, ...specialPrices(prices) };
  return model;
}

/** The names of other prices in OpenRouter's list (https://openrouter.ai/docs/api-reference/list-available-models). */
const SPECIAL_PRICES: readonly (readonly [string, keyof SpecialPrices])[] = [
  ["input_cache_read", "cacheRead"],
  ["input_cache_write", "cacheWrite"],
  ["audio", "audioInput"],
  ["audio_output", "audioOutput"],
  ["image_output", "imageOutput"],
  ["image", "image"],
  ["request", "request"],
];

function specialPrices(prices: unknown): SpecialPrices {
  const found = SPECIAL_PRICES.map(([named, key]) => [key, fromUsdPerToken(field(prices, named))] as const);
  return Object.fromEntries(found.filter(([, price]) => price));
}

/** Of Unix time in seconds (OpenAI), or of a time as text (Anthropic, which gives the start of 1970 for one that is not known). */
function secondsOf(time: unknown): number | undefined {
  const seconds = typeof time === "string" ? Date.parse(time) / 1000 : time;
  return typeof seconds === "number" && seconds > 0 && seconds < 1e11 ? Math.floor(seconds) : undefined;
}

function field(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>)[key] : undefined;
}

function text(value: unknown, key: string): string | undefined {
  const found = field(value, key);
  return typeof found === "string" && found !== "" ? found : undefined;
}

function firstSentence(description: string): string {
  const end = description.search(/\.\s|\n/);
  return (end > 0 ? description.slice(0, end + 1) : description).slice(0, 200).trim();
}
