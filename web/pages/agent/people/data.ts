// The people who wrote to an agent, and the receipts of those who were erased from it, as the API has them.

import { useInfiniteQuery } from "@tanstack/react-query";
import type {
  agentPeople,
  agentPerson,
  erasureList,
  erasureReceipt,
  receiptVerdict,
} from "../../../../plugins/privacy/owner/model.ts";
import { api, path } from "../../../api/api.ts";

export type Person = typeof agentPerson.static;
export type Receipt = typeof erasureReceipt.static;
export type Verdict = typeof receiptVerdict.static;
type PeoplePage = typeof agentPeople.static;
type ErasurePage = typeof erasureList.static;

const PAGE = 50;
const RECEIPTS = 20;

export const peopleKey = (agentId: string) => ["agent", agentId, "people"] as const;
export const receiptsKey = (agentId: string) => ["agent", agentId, "erasures"] as const;

export const nameOf = ({ name, id }: Person) => name || id;

/** The address of all that the agent has of a person. */
export const pathOf = (agentId: string, { channel, id }: Pick<Person, "channel" | "id">) =>
  path`/api/agents/${agentId}/people/${channel}/${id}`;

export function usePeople(agentId: string, query: string) {
  return useInfiniteQuery({
    queryKey: [...peopleKey(agentId), query],
    queryFn: ({ pageParam }) =>
      api.get<PeoplePage>(path`/api/agents/${agentId}/people`, {
        query: query || undefined,
        limit: PAGE,
        offset: pageParam || undefined,
      }),
    initialPageParam: 0,
    getNextPageParam: ({ hasMore }, _pages, offset) => (hasMore ? offset + PAGE : undefined),
    // The list of the search before stays until the next one is there.
    placeholderData: (before) => before,
  });
}

export function useReceipts(agentId: string) {
  return useInfiniteQuery({
    queryKey: receiptsKey(agentId),
    queryFn: ({ pageParam }) =>
      api.get<ErasurePage>(path`/api/agents/${agentId}/erasures`, { limit: RECEIPTS, offset: pageParam || undefined }),
    initialPageParam: 0,
    getNextPageParam: ({ count }, _pages, offset) => (count === RECEIPTS ? offset + RECEIPTS : undefined),
  });
}
