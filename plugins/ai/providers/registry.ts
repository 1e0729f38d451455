// The registry of AI providers: one row each. To add a provider, write its definition and add it to `builtInProviders`.

import { anthropic } from "./definitions/anthropic.ts";
import { gemini } from "./definitions/gemini.ts";
import { groq } from "./definitions/groq.ts";
import { openAi } from "./definitions/openai.ts";
import { openRouter } from "./definitions/openrouter.ts";
import type { ProviderDefinition, ProviderId } from "./provider.ts";

/** In the order of preference: the first that is configured serves where no provider is named. */
export const builtInProviders: readonly ProviderDefinition[] = [openRouter, gemini, groq, anthropic, openAi];

/** The default provider, whose id the built-in demo model has too. */
export const defaultProvider = openRouter;

export interface ProviderRegistry {
  readonly all: readonly ProviderDefinition[];
  readonly ids: readonly ProviderId[];
  /** Used where a request names no provider. */
  readonly default: ProviderDefinition;
  /** Throws for an id that is not registered. */
  get(id: ProviderId): ProviderDefinition;
  find(id: string): ProviderDefinition | undefined;
  /** `provider_N:model` in two parts; undefined for a bare model id. */
  parseReference(text: string): { provider: ProviderId; modelId: string } | undefined;
}

/** Throws when two definitions share an id or a prefix of variables. */
export function createProviderRegistry(definitions: readonly ProviderDefinition[]): ProviderRegistry {
  const byId = new Map<string, ProviderDefinition>(definitions.map((definition) => [definition.id, definition]));
  const prefixes = new Set(definitions.map(({ env }) => env));
  if (byId.size < definitions.length || prefixes.size < definitions.length) {
    throw new Error("Two providers have the same id or the same prefix of variables.");
  }
  const find = (id: string) => byId.get(id);
  return Object.freeze<ProviderRegistry>({
    all: definitions,
    ids: definitions.map(({ id }) => id),
    default: definitions[0] ?? defaultProvider,
    find,
    get(id) {
      const definition = find(id);
      if (!definition) throw new Error(`No provider is registered as ${id}.`);
      return definition;
    },
    parseReference(text) {
      const colon = text.indexOf(":");
      const definition = colon < 0 ? undefined : find(text.slice(0, colon));
      const modelId = text.slice(colon + 1);
      return definition && modelId !== "" ? { provider: definition.id, modelId } : undefined;
    },
  });
}
