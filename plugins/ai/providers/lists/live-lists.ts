// Holds the providers' lists of models: served stale for as long as a new one is fetched, and from the database after a start.

import type { Log } from "../../../../src/kernel/telemetry/log.ts";
import { MINUTE, SECOND } from "../../../../src/kernel/util/time.ts";
import { fetchModelList, type ListedModel } from "../model-list.ts";
import type { ProviderId } from "../provider.ts";
import type { Upstream } from "../providers.ts";
import type { KeptLists } from "./kept-lists.ts";

export interface LiveList {
  /** Chat models; undefined until there is a list. */
  models: readonly ListedModel[] | undefined;
  embeddingModels: readonly ListedModel[];
  /** The provider's answer is known: its list, or that it has none. */
  hasAnswered: boolean;
  /** The end of the last attempt, or when a kept list was fetched; epoch ms. */
  fetchedAt: number;
  /** Never rejects. */
  refreshing: Promise<void> | undefined;
}

export interface LiveLists {
  /** The list of this upstream, which is fetched in the background if it is missing or old. */
  refresh(upstream: Upstream): LiveList;
  of(provider: ProviderId): LiveList | undefined;
  /** Resolves when the kept lists can be used; undefined if they can. Never rejects. */
  untilLoaded(): Promise<void> | undefined;
  /** Milliseconds until a provider that gave no answer is asked again. */
  retryInMs(provider: ProviderId): number;
  clear(): void;
}

interface Deps {
  kept: KeptLists;
  log: Pick<Log, "warn">;
  /** Called when a list has changed. */
  onChange(): void;
}

const MAX_AGE_MS = 10 * MINUTE;
const RETRY_AFTER_FAILURE_MS = 10 * SECOND;

export function createLiveLists({ kept, log, onChange }: Deps): LiveLists {
  const lists = new Map<ProviderId, LiveList>();
  let isLoaded = false;
  let loading: Promise<void> | undefined;

  async function loadKept(): Promise<void> {
    await kept.load();
    isLoaded = true;
  }

  function open(upstream: Upstream): LiveList {
    const list: LiveList = {
      models: undefined,
      embeddingModels: [],
      hasAnswered: false,
      fetchedAt: 0,
      refreshing: undefined,
    };
    lists.set(upstream.provider, list);
    return list;
  }

  /** Local servers are asked anew: their models are free, and change when the operator loads others. */
  function takeKept(upstream: Upstream, list: LiveList): void {
    const found = upstream.local ? undefined : kept.of(upstream);
    if (!found) return;
    setModels(list, found.models);
    list.fetchedAt = found.fetchedAt;
  }

  function setModels(list: LiveList, all: readonly ListedModel[]): void {
    list.models = all.filter(({ isEmbedding }) => !isEmbedding);
    list.embeddingModels = all.filter(({ isEmbedding }) => isEmbedding);
    list.hasAnswered = true;
    onChange();
  }

  async function fetchList(upstream: Upstream, list: LiveList): Promise<void> {
    try {
      const all = await fetchModelList(upstream);
      if (all) {
        setModels(list, all);
        if (!upstream.local) kept.save(upstream, all);
      }
      list.hasAnswered = true;
    } catch (error) {
      log.warn("a provider's list of models could not be read", { provider: upstream.provider, error });
    }
    list.fetchedAt = Date.now();
    list.refreshing = undefined;
  }

  return {
    refresh(upstream) {
      const list = lists.get(upstream.provider) ?? open(upstream);
      if (isLoaded && !list.hasAnswered) takeKept(upstream, list);
      const age = Date.now() - list.fetchedAt;
      if (!list.refreshing && !upstream.demo && age > (list.hasAnswered ? MAX_AGE_MS : RETRY_AFTER_FAILURE_MS)) {
        list.refreshing = fetchList(upstream, list);
      }
      return list;
    },
    of: (provider) => lists.get(provider),
    untilLoaded() {
      if (isLoaded) return undefined;
      loading ??= loadKept();
      return loading;
    },
    retryInMs: (provider) => Math.max(0, (lists.get(provider)?.fetchedAt ?? 0) + RETRY_AFTER_FAILURE_MS - Date.now()),
    clear: () => lists.clear(),
  };
}
