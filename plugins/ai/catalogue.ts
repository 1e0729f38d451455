// Which models there are: the providers' live lists, merged with the built-in table of prices, windows and task types.
import type { Log } from "../../src/log.ts";
import { CATALOGUE } from "./catalogue-data.ts";
import {
  canonical,
  DEMO,
  type Entry,
  fromRow,
  guessTags,
  type Model,
  parseReference,
  priced,
  rowPricing,
  taskTypes,
  toWire,
  type Unpriced,
} from "./entries.ts";
import { fetchLiveModels, type LiveModel } from "./live-models.ts";
import { FREE, type Pricing, STAND_IN } from "./pricing.ts";
import { type ProviderId, type Providers, providerIds, type Upstream } from "./providers.ts";

/** One place that would answer for a model, and the name it has there. */
export interface Candidate {
  readonly upstream: Upstream;
  readonly modelId: string;
  readonly pricing: Pricing;
}

export interface Catalogue {
  /** All models, or one provider's. Waits for a live list only while there is none at all (a few seconds at most). */
  list(provider?: ProviderId): Promise<Model[]>;
  /** The best one available for a task type: suited first, then cheapest. Undefined: nothing is available. */
  select(taskType: string): Promise<Model | undefined>;
  /** Who serves this model with the operator's keys, best first. `provider_N:id` names one; a bare id may have several. */
  resolve(reference: string): readonly Candidate[];
  /** What is known of one model of one provider, listed or not. */
  entry(provider: ProviderId, modelId: string): Entry;
  /** A provider's models as far as they are known now; never waits. */
  listed(provider: ProviderId): readonly Entry[];
  /** Settles when it is known whether there is an Ollama, and what a local server offers. Undefined: it is known. */
  settling(): Promise<void> | undefined;
  /** The entry behind `provider_N:id` or a bare id, if any list or the table knows it; whoever has the key. */
  find(reference: string): Entry | undefined;
}

const KEEP = 10 * 60_000;
const RETRY_FAILED = 30_000;
const MAX_RESOLVED = 2_000;

interface Live {
  models: LiveModel[] | undefined;
  fetchedAt: number;
  refreshing: Promise<void> | undefined;
}

/** The models of the providers that are configured; live lists are kept 10 minutes and served stale meanwhile. */
export function createCatalogue({ providers, log }: { providers: Providers; log: Log }): Catalogue {
  const builtIn = new Map(providerIds.map((id) => [id, new Map(CATALOGUE[id].map((row) => [row[0], row]))] as const));
  const table = providerIds.flatMap((id) => CATALOGUE[id].map((row) => fromRow(id, row, false)));
  let live = new Map<ProviderId, Live>();
  let known: Entry[] | undefined;
  let resolved = new Map<string, readonly Candidate[]>();
  let settled = false;
  let settling: Promise<void> | undefined;
  providers.onChange(() => {
    live = new Map();
    settled = false;
    forget();
  });

  function forget(): void {
    known = undefined;
    resolved = new Map();
  }

  function refresh(upstream: Upstream): Live {
    let state = live.get(upstream.provider);
    if (!state) {
      state = { models: undefined, fetchedAt: 0, refreshing: undefined };
      live.set(upstream.provider, state);
    }
    const age = Date.now() - state.fetchedAt;
    if (!state.refreshing && age > (state.models ? KEEP : RETRY_FAILED)) state.refreshing = load(upstream, state);
    return state;
  }

  async function load(upstream: Upstream, state: Live): Promise<void> {
    try {
      state.models = await fetchLiveModels(upstream);
      forget();
    } catch (error) {
      log.warn("a provider's list of models could not be read", { provider: upstream.provider, error });
    }
    state.fetchedAt = Date.now();
    state.refreshing = undefined;
  }

  /** Refreshes what is old in the background; waits only for lists that were never read. */
  async function upToDate(): Promise<Entry[]> {
    await providers.ready();
    const first = providers.configured().flatMap((upstream) => {
      const { models, refreshing } = refresh(upstream);
      return models || !refreshing ? [] : [refreshing];
    });
    await Promise.all(first);
    return entries();
  }

  async function settle(): Promise<void> {
    await providers.ready();
    const local = providers.configured().filter((upstream) => upstream.local && !upstream.demo);
    await Promise.all(local.map((upstream) => refresh(upstream).refreshing));
    settled = true;
    settling = undefined;
  }

  function entries(): Entry[] {
    known ??= providerIds.flatMap((id) => {
      const upstream = providers.operator(id);
      if (upstream?.demo) return [DEMO];
      const listed = upstream && live.get(id)?.models;
      if (listed) return listed.map((model) => fromLive(id, model));
      // A local server without a list has nothing to do with the table of the public provider.
      return upstream?.local ? [] : CATALOGUE[id].map((row) => fromRow(id, row, upstream !== undefined));
    });
    return known;
  }

  function fromLive(provider: ProviderId, model: LiveModel): Entry {
    const row = builtIn.get(provider)?.get(model.id);
    const base = row ? fromRow(provider, row, true) : unlisted(provider, model.id);
    const contextWindow = model.contextWindow ?? base.contextWindow;
    const merged: Entry = {
      ...base,
      name: row ? base.name : (model.name ?? model.id),
      description: row ? base.description : (model.description ?? base.description),
      contextWindow,
      windowKnown: base.windowKnown || model.contextWindow !== undefined,
      tags: row ? base.tags : guessTags(model.id, contextWindow),
      available: true,
    };
    return model.pricing ? priced(merged, model.pricing, true) : merged;
  }

  /** A model that the table does not have; a dated version of one it has costs the same. */
  function unlisted(provider: ProviderId, id: string): Entry {
    const upstream = providers.operator(provider);
    if (upstream?.demo) return DEMO;
    const kin = CATALOGUE[provider].find((row) => canonical(row[0]) === canonical(id));
    const contextWindow = kin?.[5] ?? 32_768;
    const entry: Unpriced = {
      id,
      name: id,
      provider,
      description: "",
      tags: guessTags(id, contextWindow),
      contextWindow,
      windowKnown: kin !== undefined,
      available: upstream !== undefined,
      curated: false,
    };
    if (upstream?.local) return { ...priced(entry, FREE, true), description: `Served by ${upstream.label}.` };
    if (kin) return { ...priced(entry, rowPricing(kin), true), description: `${kin[2]}.` };
    return { ...priced(entry, STAND_IN, false), description: "Its price is not known and is counted at a stand-in." };
  }

  function candidate(upstream: Upstream, modelId: string): Candidate {
    return { upstream, modelId, pricing: upstream.demo ? FREE : entryOf(upstream.provider, modelId).pricing };
  }

  function entryOf(provider: ProviderId, modelId: string): Entry {
    const listed = entries().find((one) => one.provider === provider && one.id === modelId);
    if (listed) return listed;
    const row = builtIn.get(provider)?.get(modelId);
    return row ? fromRow(provider, row, false) : unlisted(provider, modelId);
  }

  function find(reference: string): Entry | undefined {
    const named = parseReference(reference);
    const listed = [...entries(), ...table].filter((one) => !named || one.provider === named.provider);
    const wanted = named?.modelId ?? reference;
    const exact = listed.filter(({ id }) => id === wanted);
    const same = exact.length > 0 ? exact : listed.filter(({ id }) => canonical(id) === canonical(wanted));
    return same.find(({ available }) => available) ?? same[0];
  }

  function search(reference: string): readonly Candidate[] {
    const configured = providers.configured();
    const first = configured[0];
    if (!first) return [];
    // The demo answers whatever model is asked for, and says so: everything can be tried without a key.
    if (first.demo) return [candidate(first, DEMO.id)];
    const named = parseReference(reference);
    if (named) {
      const upstream = providers.operator(named.provider);
      return upstream ? [candidate(upstream, named.modelId)] : [];
    }
    const wanted = canonical(reference);
    const matches = entries().filter(
      ({ id, available }) => available && (id === reference || canonical(id) === wanted),
    );
    const byFit = [...matches].sort((a, b) => Number(b.id === reference) - Number(a.id === reference));
    const found = byFit.flatMap(({ provider, id }) => {
      const upstream = providers.operator(provider);
      return upstream ? [candidate(upstream, id)] : [];
    });
    // Lists are never complete (variants, previews): what none of them names is the first provider's to refuse.
    return found.length > 0 ? found : [candidate(first, reference)];
  }

  return {
    async list(provider) {
      const all = await upToDate();
      return all.filter((one) => !provider || one.provider === provider).map(toWire);
    },
    async select(taskType) {
      const available = (await upToDate()).filter((one) => one.available);
      const best = available.sort(bySuitability(isTaskType(taskType) ? taskType : "general"))[0];
      return best && toWire(best);
    },
    resolve(reference) {
      for (const upstream of providers.configured()) refresh(upstream);
      let found = resolved.get(reference);
      if (!found) {
        found = search(reference);
        if (resolved.size >= MAX_RESOLVED) resolved.clear();
        resolved.set(reference, found);
      }
      return found;
    },
    entry: entryOf,
    settling() {
      if (settled) return undefined;
      settling ??= settle();
      return settling;
    },
    listed: (provider) => entries().filter((one) => one.provider === provider),
    find,
  };
}

const isTaskType = (text: string): text is (typeof taskTypes)[number] => taskTypes.some((type) => type === text);

/** Suited by the table, then suited by its name, then any; then cheapest, counting three tokens in for one out. */
function bySuitability(task: string): (a: Entry, b: Entry) => number {
  const rank = ({ tags, curated }: Entry) => (tags.includes(task) ? (curated ? 0 : 1) : 2);
  const price = ({ pricing }: Entry) => 3 * pricing.input + pricing.output;
  return (a, b) => rank(a) - rank(b) || price(a) - price(b) || (a.id < b.id ? -1 : 1);
}
