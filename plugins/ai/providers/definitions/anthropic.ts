// Anthropic, by its OpenAI-compatible endpoint. https://docs.anthropic.com/en/api/openai-sdk

import type { ProviderDefinition } from "../provider.ts";
import { isOneOf, isReasoningWith } from "./request-fields.ts";

export const anthropic: ProviderDefinition = {
  id: "provider_4",
  label: "Anthropic",
  env: "PROVIDER_4",
  baseUrl: "https://api.anthropic.com/v1",
  credential: {
    required: true,
    prefix: "sk-",
    shape: /(?<![A-Za-z0-9])sk-[\w-]{16,}/,
    start: "sk-ant-",
    page: "https://console.anthropic.com/settings/keys",
  },
  capabilities: {
    // Other kinds are ignored without an error: https://docs.anthropic.com/en/api/openai-sdk
    modalities: ["image"],
    oggAudio: false,
    maxTokensField: "max_tokens",
    localServer: false,
  },
  // The list of models wants these two besides the bearer token (docs.anthropic.com, Models API).
  authHeaders: (apiKey) => ({ "x-api-key": apiKey, "anthropic-version": "2023-06-01" }),
  chatFields: {
    thinking: isReasoningWith("type", "budget_tokens"),
    service_tier: isOneOf("auto", "standard_only"),
  },
  defaultModels: { model_a: "claude-sonnet-4-5", model_b: "claude-haiku-4-5" },
  priceListId: "anthropic",
  // biome-ignore format: a table is read in rows
  models: [
    ["claude-opus-4-8", "Claude Opus 4.8", "Anthropic's strongest, for long and difficult work", 5, 25, 1_000_000, "coding analysis creative long"],
    ["claude-sonnet-5", "Claude Sonnet 5", "Anthropic's all-rounder, strong at code and tools", 2, 10, 1_000_000, "general coding analysis creative long"],
    ["claude-sonnet-4-6", "Claude Sonnet 4.6", "Anthropic's all-rounder, strong at code and tools", 3, 15, 1_000_000, "general coding analysis creative long"],
    ["claude-sonnet-4-5", "Claude Sonnet 4.5", "Anthropic's all-rounder, strong at code and tools", 3, 15, 200_000, "general coding analysis creative"],
    ["claude-haiku-4-5", "Claude Haiku 4.5", "Anthropic's small and quick one", 1, 5, 200_000, "general coding"],
  ],
  embeddingModels: [],
  // https://docs.anthropic.com/en/docs/about-claude/pricing
  // biome-ignore format: a table is read in rows
  dearModels: [
    ["claude-opus-4-1", 15, 75],
    ["claude-opus-4-0", 15, 75],
    ["claude-opus-4", 15, 75],
    ["claude-3-opus", 15, 75],
    ["claude-3-opus-latest", 15, 75],
  ],
};
