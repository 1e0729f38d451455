// Well-known models with their prices and context windows: what is shown before, and beside, the providers' live lists.
import type { ProviderId } from "./registry.ts";

/**
 * When these figures were taken, and from where (MIT licensed, collected from the providers' price pages);
 * scripts/refresh-catalogue.mjs takes newer ones.
 */
export const CATALOGUE_DATE = "2026-07-02";
export const CATALOGUE_SOURCE = "https://models.dev";

/** Provider's id, name, description, USD per million input and output tokens, context window in tokens, task types. */
export type CatalogueRow = readonly [
  id: string,
  name: string,
  description: string,
  input: number,
  output: number,
  contextWindow: number,
  tags: string,
];

/**
 * A model carries a task type only when it is a sensible choice for it; `long` means a window of 900,000 tokens or more.
 * Prices are those of the first tier, without discounts for cached input.
 */
// biome-ignore format: a table is read in rows
export const CATALOGUE: Readonly<Record<ProviderId, readonly CatalogueRow[]>> = {
  provider_1: [
    ["anthropic/claude-opus-4.8", "Claude Opus 4.8", "Anthropic's strongest, for long and difficult work", 5, 25, 1_000_000, "coding analysis creative long"],
    ["anthropic/claude-sonnet-5", "Claude Sonnet 5", "Anthropic's all-rounder, strong at code and tools", 2, 10, 1_000_000, "general coding analysis creative long"],
    ["anthropic/claude-haiku-4.5", "Claude Haiku 4.5", "Anthropic's small and quick one", 1, 5, 200_000, "general coding"],
    ["anthropic/claude-sonnet-4.5", "Claude Sonnet 4.5", "Anthropic's all-rounder, strong at code and tools", 3, 15, 1_000_000, "general coding analysis creative long"],
    ["openai/gpt-5.5", "GPT-5.5", "OpenAI's strongest, for difficult work", 5, 30, 1_050_000, "coding analysis creative long"],
    ["openai/gpt-5.4", "GPT-5.4", "OpenAI's all-rounder", 2.5, 15, 1_050_000, "general coding analysis creative long"],
    ["openai/gpt-5.4-mini", "GPT-5.4 mini", "Small and quick GPT-5.4", 0.75, 4.5, 400_000, "general coding"],
    ["openai/gpt-5-mini", "GPT-5 Mini", "Small and quick GPT-5", 0.25, 2, 400_000, "general coding"],
    ["openai/gpt-4o-mini", "GPT-4o mini", "Small, cheap, well known", 0.15, 0.6, 128_000, "general"],
    ["openai/gpt-oss-120b", "GPT OSS 120B", "OpenAI's open-weights model", 0.03, 0.15, 131_072, "general analysis"],
    ["google/gemini-3.1-pro-preview", "Gemini 3.1 Pro Preview", "Google's strongest, long window", 2, 12, 1_048_576, "coding analysis creative long"],
    ["google/gemini-3.5-flash", "Gemini 3.5 Flash", "Google's quick all-rounder, long window", 1.5, 9, 1_048_576, "general coding analysis long"],
    ["google/gemini-2.5-flash", "Gemini 2.5 Flash", "Google's earlier quick one, long window", 0.3, 2.5, 1_048_576, "general long"],
    ["deepseek/deepseek-v4-pro", "DeepSeek V4 Pro", "DeepSeek's strongest, open weights", 0.435, 0.87, 1_048_576, "general coding analysis long"],
    ["deepseek/deepseek-v4-flash", "DeepSeek V4 Flash", "DeepSeek's quick one, open weights", 0.098, 0.196, 1_048_575, "general coding long"],
    ["qwen/qwen3.7-max", "Qwen3.7 Max", "Alibaba's strongest", 1.25, 3.75, 1_000_000, "general analysis long"],
    ["qwen/qwen3-coder", "Qwen3 Coder 480B A35B", "Alibaba's open model for code", 0.22, 1.8, 262_144, "coding"],
    ["moonshotai/kimi-k2.6", "Kimi K2.6", "Moonshot's open model, good with tools", 0.55, 3.2, 262_144, "coding creative"],
    ["z-ai/glm-5.2", "GLM-5.2", "Z.ai's model for code and tools", 0.93, 3, 1_048_576, "coding analysis long"],
    ["x-ai/grok-4.3", "Grok 4.3", "xAI's all-rounder", 1.25, 2.5, 1_000_000, "general analysis long"],
    ["mistralai/mistral-large-2512", "Mistral Large 3", "Mistral's large open model", 0.5, 1.5, 262_144, "general creative"],
    ["meta-llama/llama-3.3-70b-instruct", "Llama-3.3-70B-Instruct", "Meta's open all-rounder", 0.1, 0.32, 131_072, "general creative"],
  ],
  provider_2: [
    ["gemini-3.1-pro-preview", "Gemini 3.1 Pro Preview", "Google's strongest, long window", 2, 12, 1_048_576, "coding analysis creative long"],
    ["gemini-3.5-flash", "Gemini 3.5 Flash", "Google's quick all-rounder, long window", 1.5, 9, 1_048_576, "general coding analysis long"],
    ["gemini-3.1-flash-lite", "Gemini 3.1 Flash Lite", "Google's small one, long window", 0.25, 1.5, 1_048_576, "general long"],
    ["gemini-2.5-pro", "Gemini 2.5 Pro", "Google's earlier strongest, long window", 1.25, 10, 1_048_576, "coding analysis creative long"],
    ["gemini-2.5-flash", "Gemini 2.5 Flash", "Google's earlier quick one, long window", 0.3, 2.5, 1_048_576, "general long"],
    ["gemini-2.5-flash-lite", "Gemini 2.5 Flash-Lite", "Google's cheapest, long window", 0.1, 0.4, 1_048_576, "general long"],
  ],
  provider_3: [
    ["openai/gpt-oss-120b", "GPT OSS 120B", "OpenAI's open-weights model", 0.15, 0.6, 131_072, "general analysis"],
    ["openai/gpt-oss-20b", "GPT OSS 20B", "OpenAI's small open-weights model", 0.075, 0.3, 131_072, "general"],
    ["llama-3.3-70b-versatile", "Llama 3.3 70B", "Meta's open all-rounder", 0.59, 0.79, 131_072, "general creative"],
    ["llama-3.1-8b-instant", "Llama 3.1 8B", "Meta's small open model", 0.05, 0.08, 131_072, "general"],
    ["meta-llama/llama-4-scout-17b-16e-instruct", "Llama 4 Scout 17B 16E", "Meta's small open mixture of experts", 0.11, 0.34, 131_072, "general"],
    ["qwen/qwen3-32b", "Qwen3-32B", "Alibaba's open model that thinks", 0.29, 0.59, 131_072, "analysis coding"],
  ],
  provider_4: [
    ["claude-opus-4-8", "Claude Opus 4.8", "Anthropic's strongest, for long and difficult work", 5, 25, 1_000_000, "coding analysis creative long"],
    ["claude-sonnet-5", "Claude Sonnet 5", "Anthropic's all-rounder, strong at code and tools", 2, 10, 1_000_000, "general coding analysis creative long"],
    ["claude-sonnet-4-6", "Claude Sonnet 4.6", "Anthropic's all-rounder, strong at code and tools", 3, 15, 1_000_000, "general coding analysis creative long"],
    ["claude-sonnet-4-5", "Claude Sonnet 4.5", "Anthropic's all-rounder, strong at code and tools", 3, 15, 200_000, "general coding analysis creative"],
    ["claude-haiku-4-5", "Claude Haiku 4.5", "Anthropic's small and quick one", 1, 5, 200_000, "general coding"],
  ],
  provider_5: [
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
};

/** Models that embed: provider's id, and USD per million tokens. */
// biome-ignore format: a table is read in rows
export const EMBEDDING_MODELS: Readonly<Record<ProviderId, readonly (readonly [id: string, input: number])[]>> = {
  provider_1: [],
  provider_2: [
    ["gemini-embedding-001", 0.15],
  ],
  provider_3: [],
  provider_4: [],
  provider_5: [
    ["text-embedding-3-small", 0.02],
    ["text-embedding-3-large", 0.13],
    ["text-embedding-ada-002", 0.1],
  ],
};
