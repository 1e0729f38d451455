// Which models there are: the providers' live lists, merged with the built-in table of prices, windows and task types.
import type { Log } from "../../src/log.ts";
import { CATALOGUE } from "./catalogue-data.ts";
import {
  canonical,
  DEMO,
  type Entry,
  fromRow,
  guessTags,
  parseReference,
  priced,
  rowPricing,
  type Unpriced,
} from "./entries.ts";
import { guessInputs, type InputKind, withForms } from "./inputs.ts";
import { fetchLiveModels, type LiveModel } from "./live-models.ts";
import { FREE, STAND_IN } from "./pricing.ts";
import { type ProviderId, type Providers, providerIds, type Upstream } from "./providers.ts";

export interface Catalogue {
  /** All models. Waits for a live list only while there is none at all (a few seconds at most). */
  list(): Promise<readonly Entry[]>;
  /** The same as far as it is known now, with lists that are old read again meanwhile. The same array until it changes. */
  known(): readonly Entry[];
  /** What is known of one model of one provider, listed or not. */
  entry(provider: ProviderId, modelId: string): Entry;
  /** What a model takes beside text. Waits like `list`. */
  inputs(provider: ProviderId, modelId: string): Promise<readonly InputKind[]>;
  /** A provider's models as far as they are known now; never waits. */
  listed(provider: ProviderId): readonly Entry[];
  /** Ids of a provider's models that embed, as far as its list is known; never waits. */
  embedders(provider: ProviderId): readonly string[];
  /** Settles when it is known whether there is an Ollama, and what a local server offers. Undefined: it is known. */
  settling(): Promise<void> | undefined;
  /** The entry behind `provider_N:id` or a bare id, if any list or the table knows it; whoever has the key. */
  find(reference: string): Entry | undefined;
  /**
   * False for a model that is gone: no list and no table has it, and every provider that could serve it has given its
   * list. `keyed`: providers whose list the operator can't see, since somebody else's key is used there.
   */
  offers(reference: string, keyed: readonly ProviderId[]): Promise<boolean>;
}

const KEEP = 10 * 60_000;
const RETRY_FAILED = 30_000;

interface Live {
  models: LiveModel[] | undefined;
  embedders: string[];
  fetchedAt: number;
  refreshing: Promise<void> | undefined;
}

interface Deps {
  providers: Providers;
  log: Pick<Log, "warn">;
}

/** The models of the providers that are configured; live lists are kept 10 minutes and served stale meanwhile. */
export function createCatalogue({ providers, log }: Deps): Catalogue {
  const builtIn = new Map(providerIds.map((id) => [id, new Map(CATALOGUE[id].map((row) => [row[0], row]))] as const));
  const table = providerIds.flatMap((id) => CATALOGUE[id].map((row) => fromRow(id, row, false)));
  let live = new Map<ProviderId, Live>();
  let known: readonly Entry[] | undefined;
  let settled = false;
  let settling: Promise<void> | undefined;
  providers.onChange(() => {
    live = new Map();
    settled = false;
    forget();
  });

  function forget(): void {
    known = undefined;
  }

  function refresh(upstream: Upstream): Live {
    let state = live.get(upstream.provider);
    if (!state) {
      state = { models: undefined, embedders: [], fetchedAt: 0, refreshing: undefined };
      live.set(upstream.provider, state);
    }
    const age = Date.now() - state.fetchedAt;
    if (!state.refreshing && age > (state.models ? KEEP : RETRY_FAILED)) state.refreshing = load(upstream, state);
    return state;
  }

  async function load(upstream: Upstream, state: Live): Promise<void> {
    try {
      const all = await fetchLiveModels(upstream);
      state.models = all.filter(({ embeds }) => !embeds);
      state.embedders = all.flatMap(({ id, embeds }) => (embeds ? [id] : []));
      forget();
    } catch (error) {
      log.warn("a provider's list of models could not be read", { provider: upstream.provider, error });
    }
    state.fetchedAt = Date.now();
    state.refreshing = undefined;
  }

  /** Refreshes what is old in the background; waits only for lists that were never read. */
  async function upToDate(): Promise<readonly Entry[]> {
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

  function entries(): readonly Entry[] {
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

  return {
    list: upToDate,
    known() {
      for (const upstream of providers.configured()) refresh(upstream);
      return entries();
    },
    entry: entryOf,
    async inputs(provider, modelId) {
      await upToDate();
      const listed = live.get(provider)?.models?.find(({ id }) => id === modelId);
      return withForms(provider, listed?.inputs ?? guessInputs(provider, modelId));
    },
    settling() {
      if (settled) return undefined;
      settling ??= settle();
      return settling;
    },
    async offers(reference, keyed) {
      await upToDate();
      const reads = parseReference(reference);
      const named = reads?.provider;
      const wanted = canonical(reads?.modelId ?? reference);
      // The demo stands in for a provider, and says nothing of what that one has.
      const listed = [...entries(), ...table.filter(({ provider }) => providers.operator(provider)?.demo)];
      const has = (one: Entry) => canonical(one.id) === wanted && (named === undefined || one.provider === named);
      if (listed.some(has)) return true;
      const unseen = providers.configured().filter(({ demo, provider }) => !demo && !live.get(provider)?.models);
      const unknown = [...keyed, ...unseen.map(({ provider }) => provider)];
      return unknown.some((provider) => named === undefined || provider === named);
    },
    embedders: (provider) => live.get(provider)?.embedders ?? [],
    listed: (provider) => entries().filter((one) => one.provider === provider),
    find,
  };
}
