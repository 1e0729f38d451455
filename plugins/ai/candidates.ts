// Who would answer: for a model that is named, for a task, or in place of a provider that failed.
import type { Catalogue } from "./catalogue.ts";
import { EMBEDDINGS } from "./catalogue-data.ts";
import { canonical, DEMO, type Entry, parseReference, taskTypes } from "./entries.ts";
import type { Health } from "./health.ts";
import { FREE, type Pricing, perMillion, STAND_IN } from "./pricing.ts";
import type { ProviderId, Providers, Upstream } from "./providers.ts";

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
  of(reference: string): readonly Candidate[];
  /** Who else serves what this provider does. */
  besides(provider: ProviderId, modelId: string): readonly Candidate[];
  /** The best model available for a task type: suited first, then cheapest. Undefined: none is. */
  best(taskType: string): Promise<Entry | undefined>;
  /** Who serves it; where all are out of order, who would. Empty: nobody is configured. */
  forTask(taskType: string): Promise<readonly Candidate[]>;
  /** Who serves this model that embeds, in the same way as `of`. */
  embedding(reference: string): readonly Candidate[];
  /** The provider is configured, and known to be out of order. */
  isDown(provider: ProviderId): boolean;
}

interface Deps {
  providers: Providers;
  health: Pick<Health, "isDown">;
  catalogue: Pick<Catalogue, "list" | "known" | "entry" | "embedders">;
}

/** References whose candidates are remembered. */
const MAX_FOUND = 2_000;

export function createCandidates({ providers, health, catalogue }: Deps): Candidates {
  const found = new Map<string, readonly Candidate[]>();
  const foundBesides = new Map<string, readonly Candidate[]>();
  let foundIn: readonly Entry[] | undefined;

  const candidate = (upstream: Upstream, modelId: string): Candidate => ({
    upstream,
    modelId,
    pricing: upstream.demo ? FREE : catalogue.entry(upstream.provider, modelId).pricing,
  });

  const isDown = (provider: ProviderId) => {
    const upstream = providers.operator(provider);
    return upstream !== undefined && health.isDown(upstream);
  };

  function search(reference: string): readonly Candidate[] {
    const first = providers.configured()[0];
    if (!first) return [];
    // The demo answers whatever model is asked for, and says so: everything can be tried without a key.
    if (first.demo) return [candidate(first, DEMO.id)];
    const named = parseReference(reference);
    if (named) {
      const upstream = providers.operator(named.provider);
      return upstream ? [candidate(upstream, named.modelId)] : [];
    }
    const listed = listing(reference);
    // Lists are never complete (variants, previews): what none of them names is the first provider's to refuse.
    return listed.length > 0 ? listed : [candidate(first, reference)];
  }

  /** One of each provider on whose list it is; first those that know it by this very name. */
  function listing(reference: string): Candidate[] {
    const wanted = canonical(reference);
    const same = catalogue.known().filter(({ id, available }) => available && canonical(id) === wanted);
    const exact = same.filter(({ id }) => id === reference);
    const byProvider = new Map<ProviderId, Candidate>();
    for (const { provider, id } of [...exact, ...same]) {
      const upstream = providers.operator(provider);
      if (upstream && !byProvider.has(provider)) byProvider.set(provider, candidate(upstream, id));
    }
    return [...byProvider.values()];
  }

  /** What was found before, while the lists of models are the same. */
  function remembered(of: typeof found, key: string, find: () => readonly Candidate[]): readonly Candidate[] {
    const known = catalogue.known();
    if (known !== foundIn) for (const all of [found, foundBesides]) all.clear();
    foundIn = known;
    let all = of.get(key);
    if (!all) {
      all = find();
      if (of.size >= MAX_FOUND) of.clear();
      of.set(key, all);
    }
    return workingFirst(all);
  }

  const of = (reference: string) => remembered(found, reference, () => search(reference));

  function workingFirst(all: readonly Candidate[]): readonly Candidate[] {
    if (all.length < 2 || !all.some(({ upstream }) => health.isDown(upstream))) return all;
    return [...all].sort((a, b) => Number(health.isDown(a.upstream)) - Number(health.isDown(b.upstream)));
  }

  const besides = (provider: ProviderId, modelId: string) =>
    remembered(foundBesides, `${provider}:${modelId}`, () =>
      listing(modelId).filter(({ upstream }) => upstream.provider !== provider && !upstream.demo),
    );

  async function suited(taskType: string, also: (entry: Entry) => boolean): Promise<Entry | undefined> {
    const able = (await catalogue.list()).filter((one) => one.available && also(one));
    return able.sort(bySuitability(isTaskType(taskType) ? taskType : "general"))[0];
  }

  const best = (taskType: string) => suited(taskType, ({ provider }) => !isDown(provider));

  function embedding(reference: string): readonly Candidate[] {
    catalogue.known();
    const configured = providers.configured().filter(({ demo }) => !demo);
    const named = parseReference(reference);
    if (named) {
      const upstream = configured.find(({ provider }) => provider === named.provider);
      return upstream ? [embedder(upstream, named.modelId)] : [];
    }
    const wanted = canonical(reference);
    const serving = configured.flatMap((upstream) => {
      const listed = [...catalogue.embedders(upstream.provider), ...tableOf(upstream)];
      const id = listed.find((one) => one === reference) ?? listed.find((one) => canonical(one) === wanted);
      return id ? [embedder(upstream, id)] : [];
    });
    const first = configured[0];
    if (serving.length > 0 || !first) return workingFirst(serving);
    return [embedder(first, reference)];
  }

  return {
    of,
    besides,
    best,
    async forTask(taskType) {
      const chosen = (await best(taskType)) ?? (await suited(taskType, () => true));
      const upstream = chosen && providers.operator(chosen.provider);
      return upstream ? [candidate(upstream, chosen.id), ...besides(chosen.provider, chosen.id)] : [];
    },
    embedding,
    isDown,
  };
}

const tableOf = ({ provider, local }: Upstream) => (local ? [] : EMBEDDINGS[provider].map(([id]) => id));

/** Whoever sells it, a model that embeds costs what its maker takes. */
function embedder(upstream: Upstream, modelId: string): Candidate {
  const wanted = canonical(modelId);
  const row = Object.values(EMBEDDINGS)
    .flat()
    .find(([id]) => canonical(id) === wanted);
  const known = row ? { input: perMillion(row[1]), output: 0 } : { input: STAND_IN.input, output: 0 };
  return { upstream, modelId, pricing: upstream.local ? FREE : known };
}

const isTaskType = (text: string): text is (typeof taskTypes)[number] => taskTypes.some((type) => type === text);

/** Suited by the table, then suited by its name, then any; then cheapest, counting three tokens in for one out. */
function bySuitability(task: string): (a: Entry, b: Entry) => number {
  const rank = ({ tags, curated }: Entry) => (tags.includes(task) ? (curated ? 0 : 1) : 2);
  const price = ({ pricing }: Entry) => 3 * pricing.input + pricing.output;
  return (a, b) => rank(a) - rank(b) || price(a) - price(b) || (a.id < b.id ? -1 : 1);
}
