// What an agent remembers, as the API has it: pages of facts, and the writes that change one.

import { type InfiniteData, useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { api, path } from "../../../api/api.ts";

/** An item of `GET /api/agents/:id/memories`. */
export interface Fact {
  id: string;
  kind: "own" | "person" | "world";
  text: string;
  about: string | null;
  confidence: "high" | "medium" | "low";
  untrusted: boolean;
  pinned: boolean;
  source: "agent" | "compaction" | "owner";
  createdAt: string;
  lastUsedAt: string;
}

interface FactPage {
  memories: Fact[];
  nextCursor: string | null;
}

export interface Filter {
  query: string;
  kind: string;
  about: string;
}

type Pages = InfiniteData<FactPage, string>;

export const factsKey = (agentId: string) => ["agent", agentId, "memories"] as const;

export function useFacts(agentId: string, { query, kind, about }: Filter) {
  return useInfiniteQuery({
    queryKey: [...factsKey(agentId), { query, kind, about }],
    queryFn: ({ pageParam }) =>
      api.get<FactPage>(path`/api/agents/${agentId}/memories`, {
        query: query || undefined,
        kind: kind || undefined,
        about: about || undefined,
        cursor: pageParam || undefined,
      }),
    initialPageParam: "",
    getNextPageParam: ({ nextCursor }) => nextCursor,
    // The list of the search before stays until the next one is there.
    placeholderData: (before) => before,
  });
}

/** Changes what is shown of an agent's facts in every list; returns the function that puts it back. */
export function useShownFacts(agentId: string) {
  const client = useQueryClient();
  const queryKey = factsKey(agentId);
  return {
    change(map: (facts: Fact[]) => Fact[]): () => void {
      const before = client.getQueriesData<Pages>({ queryKey });
      client.setQueriesData<Pages>(
        { queryKey },
        (data) => data && { ...data, pages: data.pages.map((page) => ({ ...page, memories: map(page.memories) })) },
      );
      return () => {
        for (const [key, data] of before) client.setQueryData(key, data);
      };
    },
    refresh: () => client.invalidateQueries({ queryKey }),
  };
}
