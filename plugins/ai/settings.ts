// The settings of AI: the operator's keys and models, and what may be spent on them.

import { anyText, httpUrl, microUsd, oneOf, type Parser, parser } from "../../src/kernel/config/parsers.ts";
import { defineSettings, type SettingsSection } from "../../src/kernel/config/section.ts";
import { optional, type Variable, withDefault } from "../../src/kernel/config/variable.ts";
import type { ProviderDefinition, ProviderId } from "./providers/provider.ts";
import { builtInProviders, createProviderRegistry, type ProviderRegistry } from "./providers/registry.ts";

export type { ProviderId } from "./providers/provider.ts";
export type { ProviderRegistry } from "./providers/registry.ts";

/** One model of one provider. `model` is the provider's own id. */
export interface ModelRef {
  provider: ProviderId;
  model: string;
}

/** What the operator has set for one provider. */
export interface ProviderSettings {
  apiKey: string | undefined;
  baseUrl: string;
  label: string;
  /** The operator set the address; where no key is required, that is enough to use the provider. */
  hasCustomBaseUrl: boolean;
  /** An admin stored the address in the running service, so that the rules for private networks apply to it. */
  hasStoredBaseUrl: boolean;
}

/** A model that agents may choose without naming it. */
export type ModelChoice = "model_a" | "model_b";
export const MODEL_CHOICES: readonly ModelChoice[] = ["model_a", "model_b"];

interface AllProviderSettings {
  registry: ProviderRegistry;
  /** The settings of the environment; `createOperatorSettings` merges them with those that admins stored. */
  of(id: ProviderId): Readonly<ProviderSettings>;
  models: Readonly<Record<ModelChoice, ModelRef>>;
  /** Whether the environment names the model of this choice. */
  isModelSet(choice: ModelChoice): boolean;
  /** The address at which an Ollama is looked for, without a slash at its end. */
  ollamaUrl: string;
}

export type ProviderSection = SettingsSection<AllProviderSettings> & { readonly registry: ProviderRegistry };

type ProviderVariables = { readonly [Name in `PROVIDER_${string}`]: Variable<string | undefined> };
type ModelVariables = { readonly [Name in "MODEL_A" | "MODEL_B"]: Variable<ModelRef> } & {
  readonly OLLAMA_URL: Variable<string>;
};

/** `provider_N:model-id` in two parts; undefined for another text. */
export function parseModelRef(registry: ProviderRegistry, text: string): ModelRef | undefined {
  const reference = /\s/.test(text) ? undefined : registry.parseReference(text);
  return reference && { provider: reference.provider, model: reference.modelId };
}

const modelRef = (registry: ProviderRegistry): Parser<ModelRef> =>
  parser(`provider_N:model-id, such as ${registry.default.id}:${registry.default.defaultModels.model_b}`, (text) =>
    parseModelRef(registry, text),
  );

/**
 * Declares the variables of these providers and gives every plugin their registry. `config.of` finds a section by its
 * name, so a section made here replaces the built-in `providerSettings`.
 */
export function createProviderSettings(definitions: readonly ProviderDefinition[]): ProviderSection {
  const registry = createProviderRegistry(definitions);
  const model = (choice: "model_a" | "model_b", description: string) =>
    withDefault(modelRef(registry), `${registry.default.id}:${registry.default.defaultModels[choice]}`, description);
  const variables: ProviderVariables & ModelVariables = Object.assign({}, ...definitions.map(variablesOf), {
    MODEL_A: model("model_a", "Model behind the choice `model_a`, the default."),
    MODEL_B: model("model_b", "Model behind the choice `model_b`."),
    OLLAMA_URL: withDefault(
      httpUrl,
      "http://127.0.0.1:11434",
      "Address at which an Ollama is looked for; it is used while no key is set. In Docker: `http://host.docker.internal:11434`.",
    ),
  });
  const section = defineSettings({
    name: "providers",
    variables,
    build(v, { sources }): AllProviderSettings {
      const settings = definitions.map(
        ({ id, env, baseUrl, label }) =>
          [
            id,
            Object.freeze<ProviderSettings>({
              apiKey: v[`${env}_API_KEY`],
              baseUrl: v[`${env}_BASE_URL`] ?? baseUrl,
              label: v[`${env}_LABEL`] ?? label,
              hasCustomBaseUrl: sources[`${env}_BASE_URL`] !== "default",
              hasStoredBaseUrl: false,
            }),
          ] as const,
      );
      const byId = new Map(settings);
      return {
        registry,
        of(id) {
          const found = byId.get(id);
          if (!found) throw new Error(`No provider is registered as ${id}.`);
          return found;
        },
        models: { model_a: v.MODEL_A, model_b: v.MODEL_B },
        isModelSet: (choice) => sources[choice.toUpperCase()] !== "default",
        ollamaUrl: v.OLLAMA_URL.replace(/\/+$/, ""),
      };
    },
  });
  return { ...section, registry };
}

function variablesOf({ id, env, baseUrl, baseUrlNote, keyNote, label }: ProviderDefinition) {
  const name = id.replace("_", " ");
  const sentence = (start: string, separator: string, note?: string) => `${start}${note ? separator + note : ""}.`;
  return {
    [`${env}_API_KEY`]: optional(anyText, sentence(`Key for ${name}`, "; ", keyNote), "secret"),
    [`${env}_BASE_URL`]: withDefault(
      httpUrl,
      baseUrl,
      sentence(`OpenAI-compatible address of ${name}`, ", ", baseUrlNote),
    ),
    [`${env}_LABEL`]: withDefault(anyText, label, `Name of ${name}, for people.`),
  };
}

export const providerSettings = createProviderSettings(builtInProviders);

/** The model by which texts are found that mean the same in other words. */
export const embeddingSettings = defineSettings({
  name: "embeddings",
  variables: {
    EMBEDDING_MODEL: optional(
      anyText,
      "Model that makes vectors of files and facts, such as `provider_5:text-embedding-3-small`, so that agents also find what is said in other words; owners pay for it like for turns. Without it they search by words.",
    ),
  },
  build: (v) => ({ model: v.EMBEDDING_MODEL }),
});

/** The models by which agents hear and speak. */
export const audioSettings = defineSettings({
  name: "audio",
  variables: {
    TRANSCRIPTION_MODEL: optional(
      anyText,
      "Model that writes down voice messages for models that don't hear, such as `provider_3:whisper-large-v3-turbo`. Without it: the first that the configured providers are known to have.",
    ),
    SPEECH_MODEL: optional(
      anyText,
      "Model that reads replies aloud, such as `provider_5:gpt-4o-mini-tts`. Without it: the first that the configured providers are known to have.",
    ),
  },
  build: (v) => ({ transcription: v.TRANSCRIPTION_MODEL, speech: v.SPEECH_MODEL }),
});

/** The model that makes pictures. */
export const pictureSettings = defineSettings({
  name: "pictures",
  variables: {
    PICTURE_MODEL: optional(
      anyText,
      "Model that makes pictures, such as `provider_5:gpt-image-1`; also one of your own server with `/images/generations`. Without it: the first that the configured providers are known to have.",
    ),
  },
  build: (v) => ({ model: v.PICTURE_MODEL }),
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
      "What `/api/ai/*` and `/v1/*` may spend a day on the operator's keys for callers without an account; 0 turns such use off.",
    ),
    AI_PLAN_BUDGETS_USD_PER_MONTH: withDefault(
      planBudgets,
      "free:1,starter:10,pro:50,enterprise:500",
      "What each account may use of the operator's keys a month before its credits, by plan; admins are free of it.",
    ),
    AI_UNPAID_BUDGET_USD_PER_DAY: withDefault(
      microUsd,
      "5",
      "What all unclaimed agents, trials and accounts without a paid subscription may together use of the operator's keys a day, besides what credits pay for.",
    ),
    AI_UNKNOWN_PRICE: withDefault(
      oneOf("dearest", "refuse"),
      "dearest",
      "Models of unknown price on the operator's keys: `dearest` counts them at the dearest price that is known of their provider, fees included, `refuse` refuses them.",
    ),
  },
  build: (v) => ({
    /** Whole micro-USD a day on the operator's keys for unclaimed agents, trials and accounts without a paid subscription, together. */
    unpaidMicroUsd: v.AI_UNPAID_BUDGET_USD_PER_DAY,
    /** What happens to calls of models of unknown price. */
    unknownPrice: v.AI_UNKNOWN_PRICE,
    /** Micro-USD a day that requests without an account may spend on the operator's keys. */
    publicMicroUsd: v.AI_PUBLIC_BUDGET_USD_PER_DAY,
    /** By plan, whole micro-USD a month; Infinity: no limit. */
    planMicroUsd: v.AI_PLAN_BUDGETS_USD_PER_MONTH,
  }),
});
