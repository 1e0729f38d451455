// Who would answer: for a model that is named, for a task, or in place of a provider that failed.
import type { Catalogue } from "./catalogue.ts";
import { type CatalogueEntry, canonicalModelId, DEMO_ENTRY, taskTypes } from "./catalogue-entry.ts";
import { FALLBACK_PRICING, FREE, fromUsdPerMillion, type Pricing } from "./pricing.ts";
import type { ProviderId } from "./provider.ts";
import type { ProviderHealth } from "./provider-health.ts";
import type { Providers, Upstream } from "./providers.ts";

/** One place that would answer for a model, and the name it has there. */
export interface Candidate {
  readonly upstream: Upstream;
  readonly modelId: string;
  readonly pricing: Pricing;
}

export interface Candidates {
  /**
   * Who serves this model with the operator's keys, best first: what is out of order comes last. `provider_N:id` names
   * one; a bare id may have several, each a provider of its own.
   */
  forModel(reference: string): readonly Candidate[];
  /** Who else serves what this provider does. */
  alternatives(provider: ProviderId, modelId: string): readonly Candidate[];
  /** The best model available for a task type: suited first, then cheapest. Undefined: none is. */
  bestForTask(taskType: string): Promise<CatalogueEntry | undefined>;
  /** Who serves it; where all are out of order, who would. Empty: nobody is configured. */
  forTask(taskType: string): Promise<readonly Candidate[]>;
  /** Who serves this model that embeds, in the same way as `of`. */
  forEmbedding(reference: string): readonly Candidate[];
  /** The provider is configured, and known to be out of order. */
  isDown(provider: ProviderId): boolean;
}

interface Deps {
  providers: Providers;
  health: Pick<ProviderHealth, "isDown">;
  catalogue: Pick<Catalogue, "list" | "listKnown" | "entry" | "embeddingModels">;
}

/** References whose candidates are remembered. */
const MAX_CACHED_REFERENCES = 2_000;

export function createCandidates({ providers, health, catalogue }: Deps): Candidates {
  const { registry } = providers;
  const embeddingRows = registry.all.flatMap(({ embeddingModels }) => embeddingModels);
  const candidatesByReference = new Map<string, readonly Candidate[]>();
  const alternativesByModel = new Map<string, readonly Candidate[]>();
  let cachedForEntries: readonly CatalogueEntry[] | undefined;

  const candidate = (upstream: Upstream, modelId: string): Candidate => ({
    upstream,
    modelId,
    pricing: upstream.demo ? FREE : catalogue.entry(upstream.provider, modelId).pricing,
  });

  const isDown = (provider: ProviderId) => {
    const upstream = providers.operatorUpstream(provider);
    return upstream !== undefined && health.isDown(upstream);
  };

  function findCandidates(reference: string): readonly Candidate[] {
    const first = providers.configuredUpstreams()[0];
    if (!first) return [];
    // The demo answers whatever model is asked for, and says so: everything can be tried without a key.
    if (first.demo) return [candidate(first, DEMO_ENTRY.id)];
    const named = registry.parseReference(reference);
    if (named) {
      const upstream = providers.operatorUpstream(named.provider);
      return upstream ? [candidate(upstream, named.modelId)] : [];
    }
    const listed = listedCandidates(reference);
    // Lists are never complete (variants, previews): what none of them names is the first provider's to refuse.
    return listed.length > 0 ? listed : [candidate(first, reference)];
  }

  /** One of each provider on whose list it is; first those that know it by this very name. */
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

  /** What was found before, while the lists of models are the same. */
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

  /** An embedding model costs the same at every provider: the price of its maker. */
  function embeddingCandidate(upstream: Upstream, modelId: string): Candidate {
    const wanted = canonicalModelId(modelId);
    const row = embeddingRows.find(([id]) => canonicalModelId(id) === wanted);
    const known = row ? { input: fromUsdPerMillion(row[1]), output: 0 } : { input: FALLBACK_PRICING.input, output: 0 };
    return { upstream, modelId, pricing: upstream.local ? FREE : known };
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
      const listed = [...catalogue.embeddingModels(upstream.provider), ...builtInEmbeddingIds(upstream)];
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

const builtInEmbeddingIds = ({ definition, local }: Upstream) =>
  local ? [] : definition.embeddingModels.map(([id]) => id);

const isTaskType = (text: string): text is (typeof taskTypes)[number] => taskTypes.some((type) => type === text);

/** Suited by the table, then suited by its name, then any; then cheapest, counting three tokens in for one out. */
function bySuitability(task: string): (a: CatalogueEntry, b: CatalogueEntry) => number {
  const rank = ({ tags, curated }: CatalogueEntry) => (tags.includes(task) ? (curated ? 0 : 1) : 2);
  const price = ({ pricing }: CatalogueEntry) => 3 * pricing.input + pricing.output;
  return (a, b) => rank(a) - rank(b) || price(a) - price(b) || (a.id < b.id ? -1 : 1);
}
