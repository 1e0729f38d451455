// Lists the available models: the providers' live lists, merged with the built-in prices, context windows and task types.
import type { Log } from "../../../src/kernel/telemetry/log.ts";
import { MINUTE } from "../../../src/kernel/util/time.ts";
import {
  type CatalogueEntry,
  canonicalModelId,
  DEMO_ENTRY,
  entryFromRow,
  guessTaskTypes,
  pricingOfRow,
  type UnpricedEntry,
  withPricing,
} from "./catalogue-entry.ts";
import { addOggAudio, guessInputModalities } from "./input-modalities.ts";
import { fetchModelList, type ListedModel } from "./model-list.ts";
import { FALLBACK_PRICING, FREE } from "./pricing.ts";
import type { InputModality, ProviderId } from "./provider.ts";
import type { Providers, Upstream } from "./providers.ts";

export interface Catalogue {
  /** All models. Waits for the first live list of each provider, a few seconds at most. */
  list(): Promise<readonly CatalogueEntry[]>;
  /** All models that are known now; refreshes old lists in the background. The same array until it changes. */
  listKnown(): readonly CatalogueEntry[];
  /** The entry of one model of one provider, also if no list has it. */
  entry(provider: ProviderId, modelId: string): CatalogueEntry;
  /** The kinds of files that a model accepts. Waits like `list`. */
  inputModalities(provider: ProviderId, modelId: string): Promise<readonly InputModality[]>;
  /** A provider's models that are known now; never waits. */
  listedModels(provider: ProviderId): readonly CatalogueEntry[];
  /** Ids of embedding models in a provider's live list; never waits. */
  embeddingModels(provider: ProviderId): readonly string[];
  /** Resolves when the search for an Ollama has ended and the lists of local servers are read; undefined if both are done. */
  untilReady(): Promise<void> | undefined;
  /** The entry of `provider_N:id` or a bare id in a live list or the built-in models, with or without a key for it. */
  find(reference: string): CatalogueEntry | undefined;
  /**
   * False for a model that no longer exists: no list has it, and every provider that could serve it has returned its list.
   * `ownKeyProviders`: providers for which the agent has a key of its own, whose lists are not read.
   */
  isOffered(reference: string, ownKeyProviders: readonly ProviderId[]): Promise<boolean>;
}

const MAX_AGE_MS = 10 * MINUTE;
const RETRY_AFTER_FAILURE_MS = 30_000;

interface LiveList {
  models: ListedModel[] | undefined;
  embeddingModels: string[];
  fetchedAt: number;
  refreshing: Promise<void> | undefined;
}

interface Deps {
  providers: Providers;
  log: Pick<Log, "warn">;
}

/** Live lists are kept for 10 minutes, and served stale while they are refreshed. */
export function createCatalogue({ providers, log }: Deps): Catalogue {
  const { registry } = providers;
  const builtInRows = new Map(
    registry.all.map(({ id, models }) => [id, new Map(models.map((row) => [row[0], row]))] as const),
  );
  const builtInEntries = registry.all.flatMap(({ id, models }) => models.map((row) => entryFromRow(id, row, false)));
  let liveLists = new Map<ProviderId, LiveList>();
  let cachedEntries: readonly CatalogueEntry[] | undefined;
  let isReady = false;
  let untilReady: Promise<void> | undefined;
  providers.onChange(() => {
    liveLists = new Map();
    isReady = false;
    invalidate();
  });

  function invalidate(): void {
    cachedEntries = undefined;
  }

  function refresh(upstream: Upstream): LiveList {
    let state = liveLists.get(upstream.provider);
    if (!state) {
      state = { models: undefined, embeddingModels: [], fetchedAt: 0, refreshing: undefined };
      liveLists.set(upstream.provider, state);
    }
    const age = Date.now() - state.fetchedAt;
    if (!state.refreshing && age > (state.models ? MAX_AGE_MS : RETRY_AFTER_FAILURE_MS))
      state.refreshing = load(upstream, state);
    return state;
  }

  async function load(upstream: Upstream, state: LiveList): Promise<void> {
    try {
      const all = await fetchModelList(upstream);
      state.models = all.filter(({ isEmbedding }) => !isEmbedding);
      state.embeddingModels = all.flatMap(({ id, isEmbedding }) => (isEmbedding ? [id] : []));
      invalidate();
    } catch (error) {
      log.warn("a provider's list of models could not be read", { provider: upstream.provider, error });
    }
    state.fetchedAt = Date.now();
    state.refreshing = undefined;
  }

  /** Refreshes old lists in the background; waits only for lists that were never read. */
  async function refreshAndList(): Promise<readonly CatalogueEntry[]> {
    await providers.ready();
    const initialLoads = providers.configuredUpstreams().flatMap((upstream) => {
      const { models, refreshing } = refresh(upstream);
      return models || !refreshing ? [] : [refreshing];
    });
    await Promise.all(initialLoads);
    return entries();
  }

  async function loadLocalLists(): Promise<void> {
    await providers.ready();
    const local = providers.configuredUpstreams().filter((upstream) => upstream.local && !upstream.demo);
    await Promise.all(local.map((upstream) => refresh(upstream).refreshing));
    isReady = true;
    untilReady = undefined;
  }

  function entries(): readonly CatalogueEntry[] {
    cachedEntries ??= registry.all.flatMap(({ id, models }) => {
      const upstream = providers.operatorUpstream(id);
      if (upstream?.demo) return [DEMO_ENTRY];
      const listed = upstream && liveLists.get(id)?.models;
      if (listed) return listed.map((model) => entryFromLive(id, model));
      // The built-in models of the public provider say nothing about a local server.
      return upstream?.local ? [] : models.map((row) => entryFromRow(id, row, upstream !== undefined));
    });
    return cachedEntries;
  }

  function entryFromLive(provider: ProviderId, model: ListedModel): CatalogueEntry {
    const row = builtInRows.get(provider)?.get(model.id);
    const base = row ? entryFromRow(provider, row, true) : entryForUnlisted(provider, model.id);
    const contextWindow = model.contextWindow ?? base.contextWindow;
    const merged: CatalogueEntry = {
      ...base,
      name: row ? base.name : (model.name ?? model.id),
      description: row ? base.description : (model.description ?? base.description),
      contextWindow,
      windowKnown: base.windowKnown || model.contextWindow !== undefined,
      tags: row ? base.tags : guessTaskTypes(model.id, contextWindow),
      available: true,
    };
    return model.pricing ? withPricing(merged, model.pricing, true) : merged;
  }

  /** The entry of a model that is not built in; a dated version of a built-in model has its price. */
  function entryForUnlisted(provider: ProviderId, id: string): CatalogueEntry {
    const upstream = providers.operatorUpstream(provider);
    if (upstream?.demo) return DEMO_ENTRY;
    const sameModelRow = registry.get(provider).models.find((row) => canonicalModelId(row[0]) === canonicalModelId(id));
    const contextWindow = sameModelRow?.[5] ?? 32_768;
    const entry: UnpricedEntry = {
      id,
      name: id,
      provider,
      description: "",
      tags: guessTaskTypes(id, contextWindow),
      contextWindow,
      windowKnown: sameModelRow !== undefined,
      available: upstream !== undefined,
      curated: false,
    };
    if (upstream?.local) return { ...withPricing(entry, FREE, true), description: `Served by ${upstream.label}.` };
    if (sameModelRow)
      return { ...withPricing(entry, pricingOfRow(sameModelRow), true), description: `${sameModelRow[2]}.` };
    return {
      ...withPricing(entry, FALLBACK_PRICING, false),
      description: "Its price is not known and is counted at a stand-in.",
    };
  }

  function entryOf(provider: ProviderId, modelId: string): CatalogueEntry {
    const listed = entries().find((one) => one.provider === provider && one.id === modelId);
    if (listed) return listed;
    const row = builtInRows.get(provider)?.get(modelId);
    return row ? entryFromRow(provider, row, false) : entryForUnlisted(provider, modelId);
  }

  function find(reference: string): CatalogueEntry | undefined {
    const named = registry.parseReference(reference);
    const listed = [...entries(), ...builtInEntries].filter((one) => !named || one.provider === named.provider);
    const wanted = named?.modelId ?? reference;
    const exact = listed.filter(({ id }) => id === wanted);
    const same =
      exact.length > 0 ? exact : listed.filter(({ id }) => canonicalModelId(id) === canonicalModelId(wanted));
    return same.find(({ available }) => available) ?? same[0];
  }

  return {
    list: refreshAndList,
    listKnown() {
      for (const upstream of providers.configuredUpstreams()) refresh(upstream);
      return entries();
    },
    entry: entryOf,
    async inputModalities(provider, modelId) {
      await refreshAndList();
      const definition = registry.get(provider);
      const listed = liveLists.get(provider)?.models?.find(({ id }) => id === modelId);
      return addOggAudio(definition, listed?.inputs ?? guessInputModalities(definition, modelId));
    },
    untilReady() {
      if (isReady) return undefined;
      untilReady ??= loadLocalLists();
      return untilReady;
    },
    async isOffered(reference, ownKeyProviders) {
      await refreshAndList();
      const parsed = registry.parseReference(reference);
      const named = parsed?.provider;
      const wanted = canonicalModelId(parsed?.modelId ?? reference);
      // The demo replaces a provider, so the built-in models of that provider count as listed.
      const listed = [
        ...entries(),
        ...builtInEntries.filter(({ provider }) => providers.operatorUpstream(provider)?.demo),
      ];
      const has = (one: CatalogueEntry) =>
        canonicalModelId(one.id) === wanted && (named === undefined || one.provider === named);
      if (listed.some(has)) return true;
      const unseen = providers
        .configuredUpstreams()
        .filter(({ demo, provider }) => !demo && !liveLists.get(provider)?.models);
      const unknown = [...ownKeyProviders, ...unseen.map(({ provider }) => provider)];
      return unknown.some((provider) => named === undefined || provider === named);
    },
    embeddingModels: (provider) => liveLists.get(provider)?.embeddingModels ?? [],
    listedModels: (provider) => entries().filter((one) => one.provider === provider),
    find,
  };
}
