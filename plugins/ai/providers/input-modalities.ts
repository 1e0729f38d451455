// Determines the kinds of files that a model accepts: from its provider's list, else from its family.

import { canonicalModelId } from "./catalogue-entry.ts";
import type { InputModality, ProviderDefinition } from "./provider.ts";

type Capable = Pick<ProviderDefinition, "capabilities">;

const MODALITIES_BY_FAMILY: readonly (readonly [pattern: RegExp, accepted: readonly InputModality[]])[] = [
  [/^gpt-(?:4o-)?audio|^gpt-4o-(?:mini-)?audio/, ["audio"]],
  [/^(?:o1|o3|gpt-3-5).*-mini|^gpt-oss/, []],
  [/^(?:gpt-4o|gpt-4-1|gpt-5|chatgpt-4o|o[134](?:-|$))/, ["image", "pdf"]],
  [/^claude-/, ["image", "pdf"]],
  [/^gemini-/, ["image", "audio", "pdf"]],
  [/^(?:llama-?4|pixtral|llava|gemma-?3(?!.*(?:270m|\b1b)))|vision|-?vl(?=[-:]|$)/, ["image"]],
];

/** Guesses from the model's id; a model of an unknown family accepts only text. */
export function guessInputModalities(provider: Capable, modelId: string): readonly InputModality[] {
  const baseName = canonicalModelId(modelId);
  const accepted = MODALITIES_BY_FAMILY.find(([pattern]) => pattern.test(baseName))?.[1] ?? [];
  return accepted.filter((kind) => provider.capabilities.modalities.includes(kind));
}

/** Adds Ogg where the provider takes it for every model that takes audio: the lists of models do not name it. */
export const addOggAudio = (provider: Capable, accepted: readonly InputModality[]): readonly InputModality[] =>
  accepted.includes("audio") && provider.capabilities.oggAudio ? [...accepted, "ogg"] : accepted;

/** Maps the input modalities of a list in OpenRouter's format (https://openrouter.ai/docs/api-reference/list-available-models). */
export function parseInputModalities(modalities: unknown): readonly InputModality[] | undefined {
  if (!Array.isArray(modalities)) return undefined;
  const kinds: readonly (readonly [string, InputModality])[] = [
    ["image", "image"],
    ["audio", "audio"],
    ["file", "pdf"],
  ];
  return kinds.flatMap(([named, kind]) => (modalities.includes(named) ? [kind] : []));
}
