// OpenRouter: models of many makers with one key. https://openrouter.ai/docs

import type { ProviderDefinition } from "../provider.ts";
import { anyValue, isReasoningWith, isTextCompression } from "./request-fields.ts";

export const openRouter: ProviderDefinition = {
  id: "provider_1",
  label: "OpenRouter",
  env: "PROVIDER_1",
  baseUrl: "https://openrouter.ai/api/v1",
  credential: {
    required: true,
    prefix: "sk-",
    shape: /(?<![A-Za-z0-9])sk-[\w-]{16,}/,
    start: "sk-or-",
    page: "https://openrouter.ai/settings/keys",
  },
  capabilities: {
    modalities: ["image", "audio", "pdf"],
    // Sound in more forms than the models' lists name: https://openrouter.ai/docs/features/multimodal/audio
    oggAudio: true,
    maxTokensField: "max_tokens",
    localServer: false,
  },
  chatFields: {
    top_k: anyValue,
    top_a: anyValue,
    min_p: anyValue,
    repetition_penalty: anyValue,
    structured_outputs: anyValue,
    verbosity: anyValue,
    include_reasoning: anyValue,
    reasoning: isReasoningWith("effort", "max_tokens", "exclude", "enabled", "summary"),
    transforms: isTextCompression,
    usage: anyValue,
  },
  // Options such as `:online` and `:nitro`, and presets: https://openrouter.ai/docs/features/presets
  pricedVariants: /[:@]/,
  // https://openrouter.ai/docs/use-cases/usage-accounting. With a key of the operator's own there, `cost` is the fee alone.
  readCharge({ cost, cost_details: details, is_byok: isOwnKey }) {
    if (typeof cost !== "number") return undefined;
    const upstream: unknown = isOwnKey === true ? Object(details).upstream_inference_cost : 0;
    return cost + (typeof upstream === "number" ? upstream : 0);
  },
  defaultModels: { model_a: "anthropic/claude-sonnet-4.5", model_b: "openai/gpt-5-mini" },
  priceListId: "openrouter",
  // biome-ignore format: a table is read in rows
  models: [
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
  embeddingModels: [],
  // https://openrouter.ai/docs/guides/overview/multimodal/stt
  transcriptionBody: "json",
  transcriptionModels: [
    { id: "openai/gpt-4o-mini-transcribe", perMinute: 0.003, perMillion: { audio: 3, text: 1.25, output: 5 } },
    { id: "openai/whisper-large-v3-turbo", perMinute: 0.04 / 60, leastSeconds: 10 },
    { id: "openai/whisper-1", perMinute: 0.006 },
  ],
  // https://openrouter.ai/docs/guides/overview/multimodal/tts: MP3 and raw samples alone.
  speechModels: [
    {
      id: "openai/gpt-4o-mini-tts-2025-12-15",
      perMillionCharacters: 0.6,
      perMinute: 0.015,
      voice: "alloy",
      format: "mp3",
    },
  ],
};
