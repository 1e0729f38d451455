// What a model takes beside text: as its provider's list says, else as its family is known to.

import { canonicalModelId } from "./catalogue-entry.ts";
import type { ProviderId } from "./registry.ts";

/** Kinds of files a message to a model may carry. `audio` is MP3 and WAV; `ogg`, as chat apps record, is taken by fewer. */
export type InputModality = "image" | "audio" | "ogg" | "pdf";

/** What passes through each provider's OpenAI-compatible endpoint at all. */
const ENDPOINT_MODALITIES: Readonly<Record<ProviderId, readonly InputModality[]>> = {
  provider_1: ["image", "audio", "pdf"],
  // https://ai.google.dev/gemini-api/docs/openai: pictures and sound; documents have an API of their own.
  provider_2: ["image", "audio"],
  provider_3: ["image"],
  // https://docs.anthropic.com/en/api/openai-sdk: other kinds are ignored without a word.
  provider_4: ["image"],
  provider_5: ["image", "audio", "pdf"],
};

const MODALITIES_BY_FAMILY: readonly (readonly [pattern: RegExp, accepted: readonly InputModality[]])[] = [
  [/^gpt-(?:4o-)?audio|^gpt-4o-(?:mini-)?audio/, ["audio"]],
  [/^(?:o1|o3|gpt-3-5).*-mini|^gpt-oss/, []],
  [/^(?:gpt-4o|gpt-4-1|gpt-5|chatgpt-4o|o[134](?:-|$))/, ["image", "pdf"]],
  [/^claude-/, ["image", "pdf"]],
  [/^gemini-/, ["image", "audio", "pdf"]],
  [/^(?:llama-?4|pixtral|llava|gemma-?3(?!.*(?:270m|\b1b)))|vision|-?vl(?=[-:]|$)/, ["image"]],
];

/** A guess by the model's name; of a family nobody knows, that it takes text alone. */
export function guessInputModalities(provider: ProviderId, modelId: string): readonly InputModality[] {
  const baseName = canonicalModelId(modelId);
  const accepted = MODALITIES_BY_FAMILY.find(([pattern]) => pattern.test(baseName))?.[1] ?? [];
  return accepted.filter((kind) => ENDPOINT_MODALITIES[provider].includes(kind));
}

/** The same with what goes without saying: these providers hand on sound in more forms than their models' lists name. */
export const addOggAudio = (provider: ProviderId, accepted: readonly InputModality[]): readonly InputModality[] =>
  accepted.includes("audio") && acceptsOggAudio(provider) ? [...accepted, "ogg"] : accepted;

/**
 * OpenRouter (https://openrouter.ai/docs/features/multimodal/audio) and Google, whose models know Ogg
 * (https://ai.google.dev/gemini-api/docs/audio). OpenAI takes WAV and MP3 alone.
 */
export const acceptsOggAudio = (provider: ProviderId) => provider === "provider_1" || provider === "provider_2";

/** From the input modalities of a list in OpenRouter's form: https://openrouter.ai/docs/api-reference/list-available-models */
export function parseInputModalities(modalities: unknown): readonly InputModality[] | undefined {
  if (!Array.isArray(modalities)) return undefined;
  const kinds: readonly (readonly [string, InputModality])[] = [
    ["image", "image"],
    ["audio", "audio"],
    ["file", "pdf"],
  ];
  return kinds.flatMap(([named, kind]) => (modalities.includes(named) ? [kind] : []));
}
