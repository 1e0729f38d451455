// Shows, tries and changes the model providers of the operator's keys, for admins. Keys go in and never come out.

import type { Statement } from "../../../src/kernel/database/database.ts";
import { AppError, invalidInput } from "../../../src/kernel/errors.ts";
import type { Log } from "../../../src/kernel/telemetry/log.ts";
import type { Catalogue } from "../providers/catalogue.ts";
import type { ProviderHealth } from "../providers/provider-health.ts";
import type { Providers } from "../providers/providers.ts";
import { MODEL_CHOICES, type ModelChoice, type ProviderId, parseModelRef } from "../settings.ts";
import type { AddressCheck } from "./address-check.ts";
import type { OperatorSettings, ProviderChange } from "./operator-settings.ts";
import { keyEndOf } from "./stored-providers.ts";
import { type TryResult, tryProvider } from "./try-provider.ts";

interface Deps {
  settings: OperatorSettings;
  providers: Providers;
  health: Pick<ProviderHealth, "stateOf">;
  catalogue: Pick<Catalogue, "entry" | "list">;
  checkAddress: AddressCheck;
  log: Pick<Log, "redactSecret">;
}

/** Settings of a request: null removes, omitted keeps. */
export interface WantedProvider {
  apiKey?: string | null | undefined;
  baseUrl?: string | null | undefined;
}

export type OperatorProviders = ReturnType<typeof createOperatorProviders>;

export function createOperatorProviders({ settings, providers, health, catalogue, checkAddress, log }: Deps) {
  const { registry } = settings;

  function requireProvider(id: string): ProviderId {
    const found = registry.find(id);
    if (found) return found.id;
    throw new AppError(404, "UNKNOWN_PROVIDER", `There is no such provider; there are ${registry.ids.join(", ")}.`);
  }

  function describe(id: ProviderId) {
    const definition = registry.get(id);
    const { env, credential, capabilities, defaultModels } = definition;
    const { apiKey, baseUrl, label } = settings.of(id);
    const upstream = providers.operatorUpstream(id);
    const inUse = upstream !== undefined && !upstream.demo;
    const sources = [settings.keySource(id), settings.addressSource(id)];
    const fromEnvironment = settings.keySource(id) === "environment";
    return {
      id,
      label,
      source: sources.find((one) => one !== "default") ?? ("none" as const),
      inUse,
      isOllama: upstream?.found === true,
      keyEnd: (apiKey === undefined ? undefined : keyEndOf(apiKey)) ?? null,
      hasKey: apiKey !== undefined,
      requiresKey: credential.required,
      keyStart: credential.start ?? null,
      keyPage: credential.page ?? null,
      keySource: settings.keySource(id),
      keyVariable: `${env}_API_KEY`,
      baseUrl: withoutPassword(upstream && !upstream.demo ? upstream.baseUrl : baseUrl),
      ownBaseUrl: withoutPassword(definition.baseUrl),
      addressSource: settings.addressSource(id),
      addressVariable: `${env}_BASE_URL`,
      canChangeAddress: capabilities.localServer && !fromEnvironment && settings.addressSource(id) !== "environment",
      isOverridden: settings.stored(id) !== undefined && fromEnvironment,
      health: inUse ? health.stateOf(upstream) : null,
      defaultModels,
      updatedAt: isoOrNull(settings.stored(id)?.updatedAt),
    };
  }

  const describeModel = (choice: ModelChoice) => {
    const { provider, model } = settings.models[choice];
    return {
      choice,
      model: `${provider}:${model}`,
      source: settings.modelSource(choice),
      variable: choice.toUpperCase(),
      /** Without its provider another model serves. */
      isUsable: providers.operatorUpstream(provider)?.demo === false,
    };
  };

  function servingKind() {
    if (providers.isDemo()) return "demo" as const;
    return providers.configuredUpstreams().some(({ found }) => found) ? ("ollama" as const) : ("keys" as const);
  }

  async function requireAddress(id: ProviderId, text: string): Promise<string> {
    const { capabilities, baseUrl } = registry.get(id);
    const url = URL.parse(text.trim());
    if (!url || url.search || url.hash) {
      throw invalidInput({ path: "baseUrl", message: "Give an address such as http://127.0.0.1:11434/v1." });
    }
    const address = `${url.origin}${url.pathname.replace(/\/+$/, "")}`;
    if (url.username || url.password) {
      throw invalidInput({ path: "baseUrl", message: "Give the address without a user name or password." });
    }
    if (address === baseUrl) return address;
    if (!capabilities.localServer) {
      const { env } = registry.get(id);
      throw invalidInput({
        path: "baseUrl",
        message: `The address of this provider can only be set in the environment, as ${env}_BASE_URL.`,
      });
    }
    await checkAddress(address);
    return address;
  }

  async function readWanted(id: ProviderId, { apiKey, baseUrl }: WantedProvider): Promise<ProviderChange> {
    const change: ProviderChange = {};
    if (apiKey !== undefined) change.apiKey = apiKey === null ? null : requireKey(apiKey);
    if (baseUrl !== undefined) {
      const address = baseUrl === null ? null : await requireAddress(id, baseUrl);
      change.baseUrl = address === registry.get(id).baseUrl ? null : address;
    }
    return change;
  }

  return {
    requireProvider,
    describe,

    async list() {
      // One that was started or stopped a moment ago counts at once for the person who looks.
      await providers.detect();
      const ollama = await providers.findOllama();
      const kind = servingKind();
      return {
        providers: registry.ids.map(describe),
        serving: kind,
        ollama: {
          found: ollama !== undefined,
          hasModels: ollama?.hasModels === true,
          inUse: kind === "ollama",
          baseUrl: ollama?.baseUrl ?? null,
        },
      };
    },

    models: () => MODEL_CHOICES.map(describeModel),

    /** The models that the providers in use list and whose name or id has `query`. */
    async findModels({ query = "", limit, offset }: { query?: string | undefined; limit: number; offset: number }) {
      const wanted = query.trim().toLowerCase();
      const inUse = new Set(providers.configuredUpstreams().flatMap(({ demo, provider }) => (demo ? [] : provider)));
      const all = (await catalogue.list()).filter(
        ({ provider, id, name, available }) =>
          available && inUse.has(provider) && `${provider}:${id} ${name}`.toLowerCase().includes(wanted),
      );
      const choices = all
        .slice(offset, offset + limit)
        .map(({ provider, id, name, pricing, priceKnown, contextWindow }) => ({
          model: `${provider}:${id}`,
          name,
          provider: settings.of(provider).label,
          inputUsdPerMillion: priceKnown ? pricing.input / 1e6 : null,
          outputUsdPerMillion: priceKnown ? pricing.output / 1e6 : null,
          contextWindow,
        }));
      return { choices, total: all.length };
    },

    async save(id: ProviderId, wanted: WantedProvider, auditStatement: Statement): Promise<void> {
      await settings.save(id, await readWanted(id, wanted), auditStatement);
    },
    remove: (id: ProviderId, auditStatement: Statement) => settings.remove(id, auditStatement),

    async saveModels(wanted: Partial<Record<ModelChoice, string | null>>, auditStatement: Statement): Promise<void> {
      const refs = MODEL_CHOICES.flatMap((choice) => {
        const text = wanted[choice];
        if (text === undefined) return [];
        const ref = text === null ? null : parseModelRef(registry, text);
        if (ref === undefined) {
          const message = `Name the provider and its model, such as ${registry.default.id}:${registry.default.defaultModels.model_b}.`;
          throw invalidInput({ path: choice, message });
        }
        return [[choice, ref] as const];
      });
      await settings.saveModels(Object.fromEntries(refs), auditStatement);
    },

    /** Asks with these settings, or with those in force. A key in force is never sent to another address. */
    async tryOut(
      id: ProviderId,
      { apiKey, baseUrl, model }: WantedProvider & { model?: string | undefined },
    ): Promise<TryResult> {
      const known = settings.of(id);
      const key = typeof apiKey === "string" ? requireKey(apiKey) : undefined;
      if (key !== undefined) log.redactSecret(key);
      const address = typeof baseUrl === "string" ? await requireAddress(id, baseUrl) : known.baseUrl;
      const isSameAddress = address === known.baseUrl;
      const usedKey = key ?? (isSameAddress && apiKey !== null ? known.apiKey : undefined);
      const inUse = providers.operatorUpstream(id);
      const isUnchanged = key === undefined && isSameAddress && inUse?.demo === false;
      const upstream = isUnchanged ? inUse : providers.upstreamToTry(id, { apiKey: usedKey, baseUrl: address });
      if (upstream.apiKey === undefined && registry.get(id).credential.required) {
        throw new AppError(400, "KEY_REQUIRED", "Give a key: this provider needs one.");
      }
      const ownModel = settings.models.model_a.provider === id ? settings.models.model_a.model : undefined;
      return tryProvider(upstream, model ?? ownModel, { catalogue });
    },
  };
}

const isoOrNull = (time: number | undefined) => (time === undefined ? null : new Date(time).toISOString());

function withoutPassword(text: string): string {
  const url = URL.parse(text);
  return url ? `${url.origin}${url.pathname.replace(/\/$/, "")}` : text;
}

/** Keys are pasted: blanks around them are not part of them. */
function requireKey(text: string): string {
  const key = text.trim();
  if (key.length > 0 && key.length <= 4_096 && /^[\x21-\x7e]+$/.test(key)) return key;
  throw invalidInput({
    path: "apiKey",
    message: "A key is one word of letters, digits and signs. Copy it again, whole.",
  });
}
