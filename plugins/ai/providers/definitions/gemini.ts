// Google Gemini, by its OpenAI-compatible endpoint. https://ai.google.dev/gemini-api/docs/openai

import type { ProviderDefinition } from "../provider.ts";

export const gemini: ProviderDefinition = {
  id: "provider_2",
  label: "Google Gemini",
  env: "PROVIDER_2",
  baseUrl: "https://generativelanguage.googleapis.com/v1beta/openai",
  credential: {
    required: true,
    prefix: "AIza",
    shape: /(?<![\w-])AIza[\w-]{30,}/,
    start: "AIza",
    page: "https://aistudio.google.com/apikey",
  },
  capabilities: {
    // Pictures and sound; documents have an API of their own: https://ai.google.dev/gemini-api/docs/openai
    modalities: ["image", "audio"],
    // The models know Ogg, though their lists do not name it: https://ai.google.dev/gemini-api/docs/audio
    oggAudio: true,
    maxTokensField: "max_tokens",
    localServer: false,
  },
  defaultModels: { model_a: "gemini-3.5-flash", model_b: "gemini-2.5-flash-lite" },
  priceListId: "google",
  // biome-ignore format: a table is read in rows
  models: [
    ["gemini-3.1-pro-preview", "Gemini 3.1 Pro Preview", "Google's strongest, long window", 2, 12, 1_048_576, "coding analysis creative long"],
    ["gemini-3.5-flash", "Gemini 3.5 Flash", "Google's quick all-rounder, long window", 1.5, 9, 1_048_576, "general coding analysis long"],
    ["gemini-3.1-flash-lite", "Gemini 3.1 Flash Lite", "Google's small one, long window", 0.25, 1.5, 1_048_576, "general long"],
    ["gemini-2.5-pro", "Gemini 2.5 Pro", "Google's earlier strongest, long window", 1.25, 10, 1_048_576, "coding analysis creative long"],
    ["gemini-2.5-flash", "Gemini 2.5 Flash", "Google's earlier quick one, long window", 0.3, 2.5, 1_048_576, "general long"],
    ["gemini-2.5-flash-lite", "Gemini 2.5 Flash-Lite", "Google's cheapest, long window", 0.1, 0.4, 1_048_576, "general long"],
  ],
  // biome-ignore format: a table is read in rows
  embeddingModels: [
    ["gemini-embedding-001", 0.15],
  ],
  // https://ai.google.dev/gemini-api/docs/pricing
  pictureModels: [
    { id: "imagen-4.0-fast-generate-001", perPicture: 0.02, fields: { response_format: "b64_json" } },
    { id: "imagen-4.0-generate-001", perPicture: 0.04, fields: { response_format: "b64_json" } },
  ],
};
