// OpenAI. https://platform.openai.com/docs/api-reference

import type { ProviderDefinition } from "../provider.ts";
import { anyValue, isOneOf } from "./request-fields.ts";

/** These models answer with the picture itself, and take no `response_format`. */
const GPT_IMAGE = {
  fields: { quality: "medium", output_format: "png" },
  sizes: { square: "1024x1024", wide: "1536x1024", tall: "1024x1536" },
} as const;

export const openAi: ProviderDefinition = {
  id: "provider_5",
  label: "OpenAI",
  env: "PROVIDER_5",
  baseUrl: "https://api.openai.com/v1",
  credential: {
    required: true,
    prefix: "sk-",
    shape: /(?<![A-Za-z0-9])sk-[\w-]{16,}/,
    start: "sk-proj-",
    page: "https://platform.openai.com/api-keys",
  },
  capabilities: {
    modalities: ["image", "audio", "pdf"],
    // WAV and MP3 alone.
    oggAudio: false,
    // The newer models refuse `max_tokens`.
    maxTokensField: "max_completion_tokens",
    localServer: false,
  },
  chatFields: {
    // Other tiers cost up to twice as much; `auto` is what the operator's project has set.
    service_tier: isOneOf("auto", "default", "flex"),
    store: isOneOf(false),
    verbosity: anyValue,
    safety_identifier: anyValue,
    prompt_cache_key: anyValue,
  },
  defaultModels: { model_a: "gpt-5.4-mini", model_b: "gpt-5-mini" },
  priceListId: "openai",
  // biome-ignore format: a table is read in rows
  models: [
    ["gpt-5.5", "GPT-5.5", "OpenAI's strongest, for difficult work", 5, 30, 1_050_000, "coding analysis creative long"],
    ["gpt-5.4", "GPT-5.4", "OpenAI's all-rounder", 2.5, 15, 1_050_000, "general coding analysis creative long"],
    ["gpt-5.4-mini", "GPT-5.4 mini", "Small and quick GPT-5.4", 0.75, 4.5, 400_000, "general coding"],
    ["gpt-5.4-nano", "GPT-5.4 nano", "Smallest GPT-5.4, for simple tasks in bulk", 0.2, 1.25, 400_000, "general"],
    ["gpt-5.3-codex", "GPT-5.3 Codex", "OpenAI's model for code", 1.75, 14, 400_000, "coding"],
    ["gpt-5-mini", "GPT-5 Mini", "Small and quick GPT-5", 0.25, 2, 400_000, "general coding"],
    ["gpt-4.1", "GPT-4.1", "Answers directly, with a long window", 2, 8, 1_047_576, "general coding long"],
    ["gpt-4.1-mini", "GPT-4.1 mini", "Small GPT-4.1 with a long window", 0.4, 1.6, 1_047_576, "general long"],
    ["gpt-4o", "GPT-4o", "OpenAI's earlier all-rounder", 2.5, 10, 128_000, "general creative"],
    ["gpt-4o-mini", "GPT-4o mini", "Small, cheap, well known", 0.15, 0.6, 128_000, "general"],
    ["o3", "o3", "Thinks before it answers", 2, 8, 200_000, "analysis coding"],
    ["o4-mini", "o4-mini", "Small one that thinks before it answers", 1.1, 4.4, 200_000, "analysis coding"],
  ],
  // biome-ignore format: a table is read in rows
  embeddingModels: [
    ["text-embedding-3-small", 0.02],
    ["text-embedding-3-large", 0.13],
    ["text-embedding-ada-002", 0.1],
  ],
  // https://platform.openai.com/docs/pricing#transcription-and-speech
  transcriptionModels: [
    { id: "gpt-4o-mini-transcribe", perMinute: 0.003, perMillion: { audio: 3, text: 1.25, output: 5 } },
    { id: "gpt-4o-transcribe", perMinute: 0.006, perMillion: { audio: 6, text: 2.5, output: 10 } },
    { id: "whisper-1", perMinute: 0.006 },
  ],
  speechModels: [
    { id: "gpt-4o-mini-tts", perMillionCharacters: 0.6, perMinute: 0.015, voice: "alloy", format: "opus" },
    { id: "tts-1", perMillionCharacters: 15, perMinute: 0, voice: "alloy", format: "opus" },
    { id: "tts-1-hd", perMillionCharacters: 30, perMinute: 0, voice: "alloy", format: "opus" },
  ],
  // https://platform.openai.com/docs/pricing, at medium quality
  pictureModels: [
    { id: "gpt-image-1-mini", perPicture: 0.015, perMillion: { input: 2, output: 8 }, ...GPT_IMAGE },
    { id: "gpt-image-1.5", perPicture: 0.05, perMillion: { input: 5, output: 32 }, ...GPT_IMAGE },
    { id: "gpt-image-1", perPicture: 0.063, perMillion: { input: 5, output: 40 }, ...GPT_IMAGE },
  ],
  // https://platform.openai.com/docs/pricing
  // biome-ignore format: a table is read in rows
  dearModels: [
    ["gpt-4", 30, 60],
    ["gpt-4-0613", 30, 60],
    ["gpt-4-32k", 60, 120],
    ["gpt-4-turbo", 10, 30],
    ["gpt-4-turbo-preview", 10, 30],
    ["gpt-4-0125-preview", 10, 30],
    ["gpt-4-1106-preview", 10, 30],
    ["gpt-4.5-preview", 75, 150],
    ["gpt-4o-2024-05-13", 5, 15],
    ["chatgpt-4o-latest", 5, 15],
    ["o1", 15, 60],
    ["o1-preview", 15, 60],
    ["o1-pro", 150, 600],
    ["o3-pro", 20, 80],
    ["gpt-5-pro", 15, 120],
    ["gpt-5.2-pro", 21, 168],
  ],
};
