// Loads the pages of the list that are in view, and keeps them live.

import { keepPreviousData, useQueries, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../../api/api.ts";
import { useEvents, useLive } from "../../api/events.ts";
import {
  type AgentOverview,
  OVERVIEW_EVENTS,
  OVERVIEW_KEY,
  type OverviewPage,
  patchOverview,
} from "../../data/agents.ts";

/** As in the address; empty texts are left out of the request. */
export interface Filters {
  query: string;
  state: string;
  sort: string;
}

const PAGE = 100;
/** Costs grow without an event. */
const REFRESH_MS = 60_000;

const load = ({ query, state, sort }: Filters, page: number, signal?: AbortSignal) =>
  api.get<OverviewPage>(
    "/api/agents/overview",
    { query: query || undefined, state: state || undefined, sort: sort || undefined, limit: PAGE, offset: page * PAGE },
    signal,
  );

export function useAgents(filters: Filters) {
  const client = useQueryClient();
  const [range, setRange] = useState(TOP);
  const shared = { refetchInterval: REFRESH_MS };
  // While another filter loads, the rows of the one before stay.
  const head = useQuery({
    ...shared,
    queryKey: [...OVERVIEW_KEY, filters, 0],
    queryFn: ({ signal }) => load(filters, 0, signal),
    placeholderData: keepPreviousData,
  });
  const numbers = pagesOf(range, head.data?.total ?? 0);
  const further = useQueries({
    queries: numbers.map((page) => ({
      ...shared,
      queryKey: [...OVERVIEW_KEY, filters, page],
      queryFn: ({ signal }: { signal: AbortSignal }) => load(filters, page, signal),
    })),
  });
  useLive(OVERVIEW_KEY, OVERVIEW_EVENTS);
  useEvents(["agent.message"], ({ data, timestamp }) => {
    if (typeof data.agentId === "string") patchOverview(client, data.agentId, { lastActivityAt: timestamp });
  });

  const pages = new Map([
    [0, head.data?.agents],
    ...numbers.map((page, index) => [page, further[index]?.data?.agents] as const),
  ]);
  return {
    data: head.data,
    error: head.error,
    refetch: head.refetch,
    isStale: head.isPlaceholderData,
    agentAt: (index: number): AgentOverview | undefined => pages.get(Math.floor(index / PAGE))?.[index % PAGE],
    show: (firstIndex: number, lastIndex: number) => {
      const next = { first: Math.floor(firstIndex / PAGE), last: Math.floor(lastIndex / PAGE) };
      setRange((before) => (before.first === next.first && before.last === next.last ? before : next));
    },
  };
}

/** Numbers of pages in view. */
interface Range {
  first: number;
  last: number;
}
const TOP: Range = { first: 0, last: 0 };

/** The pages in view that exist, without the first. */
function pagesOf({ first, last }: Range, total: number): number[] {
  const from = Math.max(1, first);
  const to = Math.min(last, Math.ceil(total / PAGE) - 1);
  return Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => from + index);
}

/** The ids of all agents that match, for an operation on all of them. */
export async function loadAllIds(filters: Filters): Promise<{ id: string; status: string }[]> {
  const ids: { id: string; status: string }[] = [];
  for (let page = 0; ; page += 1) {
    const { agents, total } = await load(filters, page);
    ids.push(...agents.map(({ id, status }) => ({ id, status })));
    if (agents.length === 0 || ids.length >= total) return ids;
  }
}
