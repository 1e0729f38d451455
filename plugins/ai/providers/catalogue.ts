// Lists the available models: the providers' live lists, merged with the built-in prices, context windows and task types.
import type { Database } from "../../../src/kernel/database/database.ts";
import type { Log } from "../../../src/kernel/telemetry/log.ts";
import {
  type CatalogueEntry,
  canonicalModelId,
  DEMO_ENTRY,
  entryFromRow,
  guessTaskTypes,
  isVersionOf,
  pricingOfDearRow,
  pricingOfRow,
  type UnpricedEntry,
  withPricing,
} from "./catalogue-entry.ts";
import { addOggAudio, guessInputModalities } from "./input-modalities.ts";
import { createKeptLists } from "./lists/kept-lists.ts";
import { createLiveLists } from "./lists/live-lists.ts";
import type { ListedModel } from "./model-list.ts";
import { dearestOf, FREE, type Pricing } from "./pricing.ts";
import type { InputModality, ProviderId } from "./provider.ts";
import type { Providers } from "./providers.ts";

export interface Catalogue {
  /** All models. Waits for the first live list of each provider, a few seconds at most. */
  list(): Promise<readonly CatalogueEntry[]>;
  /** All models that are known now; refreshes old lists in the background. The same array until it changes. */
  listKnown(): readonly CatalogueEntry[];
  /** Whether `listKnown` has this model. */
  isListed(provider: string, modelId: string): boolean;
  /** The entry of one model of one provider, also if no list has it. */
  entry(provider: ProviderId, modelId: string): CatalogueEntry;
  /** The kinds of files that a model accepts. Waits like `list`. */
  inputModalities(provider: ProviderId, modelId: string): Promise<readonly InputModality[]>;
  /** What is known of a model beside its price; never waits. `tools` is null if no list says it. */
  capabilities(model: { provider: ProviderId; id: string }): {
    inputs: readonly InputModality[];
    tools: boolean | null;
  };
  /** A provider's models that are known now; never waits. */
  listedModels(provider: ProviderId): readonly CatalogueEntry[];
  /** The embedding models in a provider's list; never waits. */
  embeddingModels(provider: ProviderId): readonly ListedModel[];
  /** The dearest prices and fees of this provider that are known, also of models that are not offered. */
  dearestPricing(provider: ProviderId): Pricing;
  /**
   * Resolves when first calls can be served: the search for an Ollama has ended, kept lists are loaded, and local servers
   * have been asked for theirs; where several providers could serve a model, each of them, for a second at most. Undefined
   * if all of this is done.
   */
  untilReady(): Promise<void> | undefined;
  /** Waits for the first answer of this provider to the request for its list, a few seconds at most; false: it gave none. */
  untilListed(provider: ProviderId): Promise<boolean>;
  /** Milliseconds until a provider that gave no answer is asked again. */
  retryInMs(provider: ProviderId): number;
  /**
   * The entry of `provider_N:id` or a bare id in a live list or the built-in models, with or without a key for it. Waits like
   * `list` where the price is not known yet.
   */
  find(reference: string): Promise<CatalogueEntry | undefined>;
  /**
   * False for a model that no longer exists: no list has it, and every provider that could serve it has returned its list.
   * `ownKeyProviders`: providers for which the agent has a key of its own, whose lists are not read.
   */
  isOffered(reference: string, ownKeyProviders: readonly ProviderId[]): Promise<boolean>;
}

/** Milliseconds for which first calls wait for the lists of providers that are no local servers. */
const FIRST_LISTS_MS = 1_000;

interface Deps {
  providers: Providers;
  database: Pick<Database, "read" | "write">;
  log: Pick<Log, "warn">;
}

export function createCatalogue({ providers, database, log }: Deps): Catalogue {
  const { registry } = providers;
  const builtInRows = new Map(
    registry.all.map(({ id, models }) => [id, new Map(models.map((row) => [row[0], row]))] as const),
  );
  const builtInEntries = registry.all.flatMap(({ id, models }) => models.map((row) => entryFromRow(id, row, false)));
  const lists = createLiveLists({ kept: createKeptLists({ database, log }), log, onChange: invalidate });
  let cachedEntries: readonly CatalogueEntry[] | undefined;
  /** The same by provider and id, since calls look up their models. */
  let cachedByModel: ReadonlyMap<string, CatalogueEntry> | undefined;
  const dearestByProvider = new Map<ProviderId, Pricing>();
  let isReady = false;
  let untilReady: Promise<void> | undefined;
  providers.onChange(() => {
    lists.clear();
    isReady = false;
    invalidate();
  });

  function invalidate(): void {
    cachedEntries = undefined;
    cachedByModel = undefined;
    dearestByProvider.clear();
  }

  /** Refreshes old lists in the background; waits only for lists that were never read. */
  async function refreshAndList(): Promise<readonly CatalogueEntry[]> {
    await Promise.all([providers.ready(), lists.untilLoaded()]);
    const initialLoads = providers.configuredUpstreams().flatMap((upstream) => {
      const { models, refreshing } = lists.refresh(upstream);
      return models || !refreshing ? [] : [refreshing];
    });
    await Promise.all(initialLoads);
    return entries();
  }

  async function getReady(): Promise<void> {
    await Promise.all([providers.ready(), lists.untilLoaded()]);
    const upstreams = providers.configuredUpstreams();
    const local: unknown[] = [];
    const remote: unknown[] = [];
    for (const upstream of upstreams) {
      const { hasAnswered, refreshing } = lists.refresh(upstream);
      if (upstream.local) local.push(refreshing);
      else if (!hasAnswered && upstreams.length > 1) remote.push(refreshing);
    }
    await Promise.all(local);
    if (remote.length > 0) await Promise.race([Promise.all(remote), Bun.sleep(FIRST_LISTS_MS)]);
    isReady = true;
    untilReady = undefined;
  }

  function entries(): readonly CatalogueEntry[] {
    cachedEntries ??= registry.all.flatMap(({ id, models }) => {
      const upstream = providers.operatorUpstream(id);
      if (upstream?.demo) return [DEMO_ENTRY];
      const listed = upstream && lists.of(id)?.models;
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
      ...(model.releasedAt !== undefined && { releasedAt: model.releasedAt }),
    };
    return model.pricing ? withPricing(merged, model.pricing, true) : merged;
  }

  /** The entry of a model that is not built in; a dated version of a built-in model has its price, unless it has its own. */
  function entryForUnlisted(provider: ProviderId, id: string): CatalogueEntry {
    const upstream = providers.operatorUpstream(provider);
    if (upstream?.demo) return DEMO_ENTRY;
    const { models, dearModels = [] } = registry.get(provider);
    const sameModelRow = models.find((row) => isVersionOf(row[0], id));
    // A dated version may cost more than the model that it is a version of.
    const dearRow =
      dearModels.find((row) => row[0] === id) ??
      (sameModelRow ? undefined : dearModels.find((row) => isVersionOf(row[0], id)));
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
    if (dearRow) return withPricing(entry, pricingOfDearRow(dearRow), true);
    if (sameModelRow)
      return { ...withPricing(entry, pricingOfRow(sameModelRow), true), description: `${sameModelRow[2]}.` };
    return {
      ...withPricing(entry, dearestPricing(provider), false),
      description: "Its price is not known and is counted as the dearest of its provider.",
    };
  }

  function dearestPricing(provider: ProviderId): Pricing {
    let dearest = dearestByProvider.get(provider);
    if (!dearest) {
      const list = providers.operatorUpstream(provider) && lists.of(provider)?.models;
      const { models, dearModels = [] } = registry.get(provider);
      dearest = dearestOf([
        ...models.map(pricingOfRow),
        ...dearModels.map(pricingOfDearRow),
        ...(list ?? []).flatMap(({ pricing }) => pricing ?? []),
      ]);
      dearestByProvider.set(provider, dearest);
    }
    return dearest;
  }

  function listedEntry(provider: string, modelId: string): CatalogueEntry | undefined {
    // Of two with the same id the first counts.
    cachedByModel ??= new Map(
      entries()
        .map((entry) => [`${entry.provider} ${entry.id}`, entry] as const)
        .reverse(),
    );
    return cachedByModel.get(`${provider} ${modelId}`);
  }

  function entryOf(provider: ProviderId, modelId: string): CatalogueEntry {
    const listed = listedEntry(provider, modelId);
    if (listed) return listed;
    const row = builtInRows.get(provider)?.get(modelId);
    return row ? entryFromRow(provider, row, false) : entryForUnlisted(provider, modelId);
  }

  const capabilities: Catalogue["capabilities"] = ({ provider, id }) => {
    const upstream = providers.operatorUpstream(provider);
    if (upstream?.demo) return { inputs: [], tools: true };
    const definition = registry.get(provider);
    const listed = lists.of(provider)?.models?.find((one) => one.id === id);
    return {
      inputs: addOggAudio(definition, listed?.inputs ?? guessInputModalities(definition, id)),
      tools: listed?.tools ?? null,
    };
  };

  function findKnown(reference: string): CatalogueEntry | undefined {
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
      for (const upstream of providers.configuredUpstreams()) lists.refresh(upstream);
      return entries();
    },
    isListed: (provider, modelId) => listedEntry(provider, modelId) !== undefined,
    entry: entryOf,
    async inputModalities(provider, modelId) {
      await refreshAndList();
      return capabilities({ provider, id: modelId }).inputs;
    },
    capabilities,
    untilReady() {
      if (isReady) return undefined;
      untilReady ??= getReady();
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
        .filter(({ demo, provider }) => !demo && !lists.of(provider)?.models);
      const unknown = [...ownKeyProviders, ...unseen.map(({ provider }) => provider)];
      return unknown.some((provider) => named === undefined || provider === named);
    },
    async untilListed(provider) {
      const upstream = providers.operatorUpstream(provider);
      if (!upstream || upstream.local) return true;
      await lists.untilLoaded();
      const list = lists.refresh(upstream);
      if (!list.hasAnswered) await list.refreshing;
      return list.hasAnswered;
    },
    retryInMs: lists.retryInMs,
    dearestPricing,
    embeddingModels: (provider) => lists.of(provider)?.embeddingModels ?? [],
    listedModels: (provider) => entries().filter((one) => one.provider === provider),
    async find(reference) {
      const known = findKnown(reference);
      if (known?.priceKnown) return known;
      await refreshAndList();
      return findKnown(reference);
    },
  };
}
