// The settings of AI: the operator's keys and models, and what may be spent on them.

import { anyText, httpUrl, microUsd, oneOf, type Parser, parser } from "../../src/kernel/config/parsers.ts";
import { defineSettings } from "../../src/kernel/config/section.ts";
import { optional, withDefault } from "../../src/kernel/config/variable.ts";
import { type ProviderId, providerIds } from "./providers/registry.ts";

export { type ProviderId, providerIds };

/** One model of one provider. `model` is the provider's own id. */
export interface ModelRef {
  provider: ProviderId;
  model: string;
}

const modelRef: Parser<ModelRef> = parser("provider_N:model-id, such as provider_1:openai/gpt-5-mini", (text) => {
  const [, name, model] = /^(provider_\d):(\S+)$/.exec(text) ?? [];
  const provider = providerIds.find((id) => id === name);
  return provider && model ? { provider, model } : undefined;
});

export const providerSettings = defineSettings({
  name: "providers",
  variables: {
    PROVIDER_1_API_KEY: optional(anyText, "Key for provider 1.", "secret"),
    PROVIDER_1_BASE_URL: withDefault(
      httpUrl,
      "https://openrouter.ai/api/v1",
      "OpenAI-compatible address of provider 1.",
    ),
    PROVIDER_1_LABEL: withDefault(anyText, "OpenRouter", "Name of provider 1, for people."),
    PROVIDER_2_API_KEY: optional(anyText, "Key for provider 2.", "secret"),
    PROVIDER_2_BASE_URL: withDefault(
      httpUrl,
      "https://generativelanguage.googleapis.com/v1beta/openai",
      "OpenAI-compatible address of provider 2.",
    ),
    PROVIDER_2_LABEL: withDefault(anyText, "Google Gemini", "Name of provider 2, for people."),
    PROVIDER_3_API_KEY: optional(anyText, "Key for provider 3; a local server needs none.", "secret"),
    PROVIDER_3_BASE_URL: withDefault(
      httpUrl,
      "https://api.groq.com/openai/v1",
      "OpenAI-compatible address of provider 3, such as a local Ollama's `http://127.0.0.1:11434/v1`.",
    ),
    PROVIDER_3_LABEL: withDefault(anyText, "Groq", "Name of provider 3, for people."),
    PROVIDER_4_API_KEY: optional(anyText, "Key for provider 4.", "secret"),
    PROVIDER_4_BASE_URL: withDefault(
      httpUrl,
      "https://api.anthropic.com/v1",
      "OpenAI-compatible address of provider 4.",
    ),
    PROVIDER_4_LABEL: withDefault(anyText, "Anthropic", "Name of provider 4, for people."),
    PROVIDER_5_API_KEY: optional(anyText, "Key for provider 5.", "secret"),
    PROVIDER_5_BASE_URL: withDefault(httpUrl, "https://api.openai.com/v1", "OpenAI-compatible address of provider 5."),
    PROVIDER_5_LABEL: withDefault(anyText, "OpenAI", "Name of provider 5, for people."),
    MODEL_A: withDefault(
      modelRef,
      "provider_1:anthropic/claude-sonnet-4.5",
      "Model behind the choice `model_a`, the default.",
    ),
    MODEL_B: withDefault(modelRef, "provider_1:openai/gpt-5-mini", "Model behind the choice `model_b`."),
  },
  build(v, { sources }) {
    const provider = (n: 1 | 2 | 3 | 4 | 5) => ({
      apiKey: v[`PROVIDER_${n}_API_KEY`],
      baseUrl: v[`PROVIDER_${n}_BASE_URL`],
      label: v[`PROVIDER_${n}_LABEL`],
      /** The operator set the address; for provider 3 that is enough to use it without a key. */
      hasCustomBaseUrl: sources[`PROVIDER_${n}_BASE_URL`] !== "default",
    });
    return {
      providers: {
        provider_1: provider(1),
        provider_2: provider(2),
        provider_3: provider(3),
        provider_4: provider(4),
        provider_5: provider(5),
      },
      models: { model_a: v.MODEL_A, model_b: v.MODEL_B },
    };
  },
});

/** What each plan includes, in whole micro-USD a month. */
type PlanBudgets = Record<"free" | "starter" | "pro" | "enterprise", number>;

/** Plans that are not named keep their defaults. */
const planBudgets: Parser<PlanBudgets> = parser(
  "off, or PLAN:USD pairs with commas between, such as free:0,pro:20.50 (free, starter, pro, enterprise)",
  (text, context) => {
    const budgets: PlanBudgets = { free: 1_000_000, starter: 10_000_000, pro: 50_000_000, enterprise: 500_000_000 };
    if (text.toLowerCase() === "off") {
      const none = Number.POSITIVE_INFINITY;
      return { free: none, starter: none, pro: none, enterprise: none };
    }
    for (const pair of text.split(",")) {
      const [name = "", usd = ""] = pair.trim().split(":");
      const plan = oneOf("free", "starter", "pro", "enterprise").parse(name, context);
      const amount = microUsd.parse(usd, context);
      if (plan === undefined || amount === undefined) return undefined;
      budgets[plan] = amount;
    }
    return budgets;
  },
);

export const budgetSettings = defineSettings({
  name: "budgets",
  variables: {
    AI_PUBLIC_BUDGET_USD_PER_DAY: withDefault(
      microUsd,
      "1",
      "What `/api/ai/*` may spend on the operator's keys a day; 0 turns keyless use off.",
    ),
    AI_PLAN_BUDGETS_USD_PER_MONTH: withDefault(
      planBudgets,
      "free:1,starter:10,pro:50,enterprise:500",
      "What each account may use of the operator's keys a month before its credits, by plan; admins are free of it.",
    ),
  },
  build: (v) => ({
    /** Micro-USD a day that requests without an account may spend on the operator's keys. */
    publicMicroUsd: v.AI_PUBLIC_BUDGET_USD_PER_DAY,
    /** By plan, whole micro-USD a month; Infinity: no limit. */
    planMicroUsd: v.AI_PLAN_BUDGETS_USD_PER_MONTH,
  }),
});
