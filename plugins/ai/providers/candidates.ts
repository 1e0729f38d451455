// Finds the upstreams that can serve a call: for a named model, for a task type, or as fallback for a provider that failed.
import type { Catalogue } from "./catalogue.ts";
import { type CatalogueEntry, canonicalModelId, DEMO_ENTRY, taskTypes } from "./catalogue-entry.ts";
import { FREE, fromUsdPerMillion, type Pricing } from "./pricing.ts";
import type { ProviderId } from "./provider.ts";
import type { ProviderHealth } from "./provider-health.ts";
import type { Providers, Upstream } from "./providers.ts";

/** An upstream that can serve a call, with the model's id and price there. */
export interface Candidate {
  readonly upstream: Upstream;
  readonly modelId: string;
  readonly pricing: Pricing;
  /** Nobody knows the price; `pricing` is the dearest of the provider. */
  readonly priceUnknown?: true;
}

export interface Candidates {
  /**
   * Candidates for this model with the operator's keys, those that are down last. `provider_N:id` has one candidate; a bare
   * id may have several, of different providers.
   */
  forModel(reference: string): readonly Candidate[];
  /** Candidates of other providers for the same model. */
  alternatives(provider: ProviderId, modelId: string): readonly Candidate[];
  /** The best available model for a task type: suitability first, then price. Undefined if no model is available. */
  bestForTask(taskType: string): Promise<CatalogueEntry | undefined>;
  /** Candidates for the best model; if all providers are down, for the model that would be best. Empty if none is configured. */
  forTask(taskType: string): Promise<readonly Candidate[]>;
  /** Candidates for an embedding model, ordered as in `forModel`. */
  forEmbedding(reference: string): readonly Candidate[];
  /** Whether the provider is configured and known to be down. */
  isDown(provider: ProviderId): boolean;
}

interface Deps {
  providers: Providers;
  health: Pick<ProviderHealth, "isDown">;
  catalogue: Pick<Catalogue, "list" | "listKnown" | "entry" | "embeddingModels" | "dearestPricing">;
}

/** A provider that is not registered. Without this, its name would pass as a part of the model's. */
const NO_PROVIDER = /^provider_\d+:/;
/** References whose candidates are cached. */
const MAX_CACHED_REFERENCES = 2_000;

export function createCandidates({ providers, health, catalogue }: Deps): Candidates {
  const { registry } = providers;
  const embeddingRows = registry.all.flatMap(({ embeddingModels }) => embeddingModels);
  const candidatesByReference = new Map<string, readonly Candidate[]>();
  const alternativesByModel = new Map<string, readonly Candidate[]>();
  let cachedForEntries: readonly CatalogueEntry[] | undefined;

  function candidate(upstream: Upstream, modelId: string): Candidate {
    if (upstream.demo) return { upstream, modelId, pricing: FREE };
    const { pricing, priceKnown } = catalogue.entry(upstream.provider, modelId);
    return { upstream, modelId, pricing, ...(priceKnown ? {} : PRICE_UNKNOWN) };
  }

  const isDown = (provider: ProviderId) => {
    const upstream = providers.operatorUpstream(provider);
    return upstream !== undefined && health.isDown(upstream);
  };

  function findCandidates(reference: string): readonly Candidate[] {
    const first = providers.configuredUpstreams()[0];
    if (!first) return [];
    // The demo serves every model, so that everything can be tried without a key.
    if (first.demo) return [candidate(first, DEMO_ENTRY.id)];
    const named = registry.parseReference(reference);
    if (named) {
      const upstream = providers.operatorUpstream(named.provider);
      return upstream ? [candidate(upstream, named.modelId)] : [];
    }
    if (NO_PROVIDER.test(reference)) return [];
    const listed = listedCandidates(reference);
    // Lists are incomplete (variants, previews): the first provider decides on a model that none of them has.
    return listed.length > 0 ? listed : [candidate(first, reference)];
  }

  /** One candidate for each provider that lists the model; exact ids first, then other spellings. */
  function listedCandidates(reference: string): Candidate[] {
    const wanted = canonicalModelId(reference);
    const same = catalogue.listKnown().filter(({ id, available }) => available && canonicalModelId(id) === wanted);
    const exact = same.filter(({ id }) => id === reference);
    const byProvider = new Map<ProviderId, Candidate>();
    for (const { provider, id } of [...exact, ...same]) {
      const upstream = providers.operatorUpstream(provider);
      if (upstream && !byProvider.has(provider)) byProvider.set(provider, candidate(upstream, id));
    }
    return [...byProvider.values()];
  }

  /** Returns the cached result while the lists of models are unchanged. */
  function cachedLookup(
    lookup: typeof candidatesByReference,
    key: string,
    find: () => readonly Candidate[],
  ): readonly Candidate[] {
    const known = catalogue.listKnown();
    if (known !== cachedForEntries) for (const all of [candidatesByReference, alternativesByModel]) all.clear();
    cachedForEntries = known;
    let all = lookup.get(key);
    if (!all) {
      all = find();
      if (lookup.size >= MAX_CACHED_REFERENCES) lookup.clear();
      lookup.set(key, all);
    }
    return workingFirst(all);
  }

  const forModel = (reference: string) =>
    cachedLookup(candidatesByReference, reference, () => findCandidates(reference));

  function workingFirst(all: readonly Candidate[]): readonly Candidate[] {
    if (all.length < 2 || !all.some(({ upstream }) => health.isDown(upstream))) return all;
    return [...all].sort((a, b) => Number(health.isDown(a.upstream)) - Number(health.isDown(b.upstream)));
  }

  const alternatives = (provider: ProviderId, modelId: string) =>
    cachedLookup(alternativesByModel, `${provider}:${modelId}`, () =>
      listedCandidates(modelId).filter(({ upstream }) => upstream.provider !== provider && !upstream.demo),
    );

  async function mostSuitable(
    taskType: string,
    isEligible: (entry: CatalogueEntry) => boolean,
  ): Promise<CatalogueEntry | undefined> {
    const able = (await catalogue.list()).filter((one) => one.available && isEligible(one));
    return able.sort(bySuitability(isTaskType(taskType) ? taskType : "general"))[0];
  }

  const bestForTask = (taskType: string) => mostSuitable(taskType, ({ provider }) => !isDown(provider));

  /** The price in the provider's list; else an embedding model costs the same at every provider: the price of its maker. */
  function embeddingCandidate(upstream: Upstream, modelId: string): Candidate {
    if (upstream.local) return { upstream, modelId, pricing: FREE };
    const listed = catalogue.embeddingModels(upstream.provider).find(({ id }) => id === modelId)?.pricing;
    if (listed) return { upstream, modelId, pricing: listed };
    const wanted = canonicalModelId(modelId);
    const row = embeddingRows.find(([id]) => canonicalModelId(id) === wanted);
    if (row) return { upstream, modelId, pricing: { input: fromUsdPerMillion(row[1]), output: 0 } };
    const dearest = catalogue.dearestPricing(upstream.provider);
    return { upstream, modelId, pricing: { ...dearest, output: 0 }, ...PRICE_UNKNOWN };
  }

  function forEmbedding(reference: string): readonly Candidate[] {
    catalogue.listKnown();
    const configured = providers.configuredUpstreams().filter(({ demo }) => !demo);
    const named = registry.parseReference(reference);
    if (named) {
      const upstream = configured.find(({ provider }) => provider === named.provider);
      return upstream ? [embeddingCandidate(upstream, named.modelId)] : [];
    }
    const wanted = canonicalModelId(reference);
    const serving = configured.flatMap((upstream) => {
      const listed = [
        ...catalogue.embeddingModels(upstream.provider).map(({ id }) => id),
        ...builtInEmbeddingIds(upstream),
      ];
      const id = listed.find((one) => one === reference) ?? listed.find((one) => canonicalModelId(one) === wanted);
      return id ? [embeddingCandidate(upstream, id)] : [];
    });
    const first = configured[0];
    if (serving.length > 0 || !first) return workingFirst(serving);
    return [embeddingCandidate(first, reference)];
  }

  return {
    forModel,
    alternatives,
    bestForTask,
    async forTask(taskType) {
      const chosen = (await bestForTask(taskType)) ?? (await mostSuitable(taskType, () => true));
      const upstream = chosen && providers.operatorUpstream(chosen.provider);
      return upstream ? [candidate(upstream, chosen.id), ...alternatives(chosen.provider, chosen.id)] : [];
    },
    forEmbedding,
    isDown,
  };
}

const PRICE_UNKNOWN = { priceUnknown: true } as const;

const builtInEmbeddingIds = ({ definition, local }: Upstream) =>
  local ? [] : definition.embeddingModels.map(([id]) => id);

const isTaskType = (text: string): text is (typeof taskTypes)[number] => taskTypes.some((type) => type === text);

/**
 * Orders by suitability (curated task types, then guessed ones, then none), then by price at three input tokens per output
 * token. Models whose price nobody knows are last.
 */
function bySuitability(task: string): (a: CatalogueEntry, b: CatalogueEntry) => number {
  const rank = ({ tags, curated }: CatalogueEntry) => (tags.includes(task) ? (curated ? 0 : 1) : 2);
  const price = ({ pricing }: CatalogueEntry) => 3 * pricing.input + pricing.output;
  return (a, b) =>
    Number(b.priceKnown) - Number(a.priceKnown) || rank(a) - rank(b) || price(a) - price(b) || (a.id < b.id ? -1 : 1);
}
