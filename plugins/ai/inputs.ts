// What a model takes beside text: as its provider's list says, else as its family is known to.
import type { ProviderId } from "../../src/config.ts";
import { canonical } from "./entries.ts";

/** Kinds of files a message to a model may carry. `audio` is MP3 and WAV; `ogg`, as chat apps record, is taken by fewer. */
export type InputKind = "image" | "audio" | "ogg" | "pdf";

/** What passes through each provider's OpenAI-compatible endpoint at all. */
const CARRIED: Readonly<Record<ProviderId, readonly InputKind[]>> = {
  provider_1: ["image", "audio", "pdf"],
  // https://ai.google.dev/gemini-api/docs/openai: pictures and sound; documents have an API of their own.
  provider_2: ["image", "audio"],
  provider_3: ["image"],
  // https://docs.anthropic.com/en/api/openai-sdk: other kinds are ignored without a word.
  provider_4: ["image"],
  provider_5: ["image", "audio", "pdf"],
};

const FAMILIES: readonly (readonly [pattern: RegExp, takes: readonly InputKind[]])[] = [
  [/^gpt-(?:4o-)?audio|^gpt-4o-(?:mini-)?audio/, ["audio"]],
  [/^(?:o1|o3|gpt-3-5).*-mini|^gpt-oss/, []],
  [/^(?:gpt-4o|gpt-4-1|gpt-5|chatgpt-4o|o[134](?:-|$))/, ["image", "pdf"]],
  [/^claude-/, ["image", "pdf"]],
  [/^gemini-/, ["image", "audio", "pdf"]],
  [/^(?:llama-?4|pixtral|llava|gemma-?3(?!.*(?:270m|\b1b)))|vision|-?vl(?=[-:]|$)/, ["image"]],
];

/** A guess by the model's name; of a family nobody knows, that it takes text alone. */
export function guessInputs(provider: ProviderId, modelId: string): readonly InputKind[] {
  const own = canonical(modelId);
  const takes = FAMILIES.find(([pattern]) => pattern.test(own))?.[1] ?? [];
  return takes.filter((kind) => CARRIED[provider].includes(kind));
}

/** The same with what goes without saying: these providers hand on sound in more forms than their models' lists name. */
export const withForms = (provider: ProviderId, takes: readonly InputKind[]): readonly InputKind[] =>
  takes.includes("audio") && takesOgg(provider) ? [...takes, "ogg"] : takes;

/**
 * OpenRouter (https://openrouter.ai/docs/features/multimodal/audio) and Google, whose models know Ogg
 * (https://ai.google.dev/gemini-api/docs/audio). OpenAI takes WAV and MP3 alone.
 */
export const takesOgg = (provider: ProviderId) => provider === "provider_1" || provider === "provider_2";

/** From the input modalities of a list in OpenRouter's form: https://openrouter.ai/docs/api-reference/list-available-models */
export function readInputs(modalities: unknown): readonly InputKind[] | undefined {
  if (!Array.isArray(modalities)) return undefined;
  const kinds: readonly (readonly [string, InputKind])[] = [
    ["image", "image"],
    ["audio", "audio"],
    ["file", "pdf"],
  ];
  return kinds.flatMap(([named, kind]) => (modalities.includes(named) ? [kind] : []));
}
