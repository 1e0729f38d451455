// Groq; with an address of the operator's own, any local server such as Ollama. https://console.groq.com/docs/openai

import type { ProviderDefinition } from "../provider.ts";
import { anyValue, isOneOf } from "./request-fields.ts";

export const groq: ProviderDefinition = {
  id: "provider_3",
  label: "Groq",
  env: "PROVIDER_3",
  baseUrl: "https://api.groq.com/openai/v1",
  baseUrlNote: "such as a local Ollama's `http://127.0.0.1:11434/v1`",
  keyNote: "a local server needs none",
  credential: {
    required: false,
    prefix: "gsk_",
    shape: /(?<![A-Za-z0-9])gsk_[\w-]{16,}/,
    start: "gsk_",
    page: "https://console.groq.com/keys",
  },
  capabilities: {
    modalities: ["image"],
    oggAudio: false,
    maxTokensField: "max_tokens",
    localServer: true,
  },
  chatFields: {
    service_tier: isOneOf("auto", "on_demand", "flex"),
    include_reasoning: anyValue,
    reasoning_format: anyValue,
  },
  defaultModels: { model_a: "openai/gpt-oss-120b", model_b: "llama-3.1-8b-instant" },
  priceListId: "groq",
  // biome-ignore format: a table is read in rows
  models: [
    ["openai/gpt-oss-120b", "GPT OSS 120B", "OpenAI's open-weights model", 0.15, 0.6, 131_072, "general analysis"],
    ["openai/gpt-oss-20b", "GPT OSS 20B", "OpenAI's small open-weights model", 0.075, 0.3, 131_072, "general"],
    ["llama-3.3-70b-versatile", "Llama 3.3 70B", "Meta's open all-rounder", 0.59, 0.79, 131_072, "general creative"],
    ["llama-3.1-8b-instant", "Llama 3.1 8B", "Meta's small open model", 0.05, 0.08, 131_072, "general"],
    ["meta-llama/llama-4-scout-17b-16e-instruct", "Llama 4 Scout 17B 16E", "Meta's small open mixture of experts", 0.11, 0.34, 131_072, "general"],
    ["qwen/qwen3-32b", "Qwen3-32B", "Alibaba's open model that thinks", 0.29, 0.59, 131_072, "analysis coding"],
  ],
  embeddingModels: [],
  // https://console.groq.com/docs/speech-to-text
  transcriptionModels: [
    { id: "whisper-large-v3-turbo", perMinute: 0.04 / 60, leastSeconds: 10 },
    { id: "whisper-large-v3", perMinute: 0.111 / 60, leastSeconds: 10 },
  ],
};
