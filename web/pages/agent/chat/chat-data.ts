// Reads conversations and their messages. The newest page of a conversation is read again when something happens in it;
// older ones are added above and stay.

import { type QueryClient, useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useEffectEvent, useRef } from "react";
import type {
  conversationItem,
  conversationList,
  conversationMessages,
  messageItem,
} from "../../../../plugins/runtime/conversations/model.ts";
import { api, path } from "../../../api/api.ts";
import { useEvents, useLive } from "../../../api/events.ts";
import type { Approval as ApprovalItem } from "../../../data/approval.ts";

type ConversationPage = typeof conversationList.static;
export type ConversationView = typeof conversationItem.static;
type MessagePage = typeof conversationMessages.static;
export type MessageView = typeof messageItem.static;
export type StepView = MessageView["steps"][number];
/** A file of a message. */
export type Attached = MessageView["attachments"][number];

/** What is known of a conversation's messages, oldest first. */
export interface Known {
  messages: MessageView[];
  /** The position before which older ones are read; null at the beginning. */
  before: number | null;
}

const PAGE = 50;
/** Pages that are read for a message which was found far back. */
const MAX_PAGES = 100;
/** Messages that are known before it, so that the feed does not read on at once. */
const CONTEXT = 20;
const conversationsKey = (agentId: string) => ["conversations", agentId] as const;
const messagesKey = (agentId: string, id: string) => ["conversation-messages", agentId, id] as const;

export function useConversations(agentId: string, query: string, platform: string) {
  const key = [...conversationsKey(agentId), query, platform];
  useLive(conversationsKey(agentId), ["agent.message"], ({ data }) => data.agentId === agentId);
  return useInfiniteQuery({
    queryKey: key,
    queryFn: ({ pageParam, signal }) =>
      api.get<ConversationPage>(
        path`/api/agents/${agentId}/conversations`,
        {
          limit: PAGE,
          ...(query && { query }),
          ...(platform && { platform }),
          ...(pageParam && { cursor: pageParam }),
        },
        signal,
      ),
    initialPageParam: "",
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
    // Another search keeps the rows of the last one until its own have come.
    placeholderData: (before) => before,
    maxPages: 40,
  });
}

export const useConversation = (agentId: string, id: string | undefined) =>
  useQuery({
    queryKey: [...conversationsKey(agentId), "one", id],
    queryFn: ({ signal }) =>
      api.get<ConversationView>(path`/api/agents/${agentId}/conversations/${id ?? ""}`, undefined, signal),
    enabled: id !== undefined,
  });

export function useMessages(agentId: string, id: string | undefined) {
  const client = useQueryClient();
  const key = messagesKey(agentId, id ?? "");
  const address = path`/api/agents/${agentId}/conversations/${id ?? ""}/messages`;
  useLive(key, ["agent.message"], ({ data }) => data.sessionId === id);
  const found = useQuery({
    queryKey: key,
    queryFn: async ({ signal }) =>
      withNewest(client.getQueryData<Known>(key), await api.get<MessagePage>(address, { limit: PAGE }, signal)),
    enabled: id !== undefined,
    staleTime: 0,
  });
  const loading = useRef<Promise<void>>(undefined);
  const readOlder = async () => {
    const before = client.getQueryData<Known>(key)?.before;
    if (before === null || before === undefined) return;
    const page = await api.get<MessagePage>(address, { limit: 2 * PAGE, before });
    client.setQueryData<Known>(key, (known) => known && withOlder(known, page));
  };
  /** Adds the page before the oldest known message. */
  const loadOlder = () => {
    loading.current ??= readOlder().finally(() => {
      loading.current = undefined;
    });
    return loading.current;
  };
  return {
    ...found,
    loadOlder,
    /** Adds pages until the message at this position is known with some before it. */
    async loadUntil(seq: number, signal: AbortSignal) {
      for (let pages = 0; pages < MAX_PAGES && !signal.aborted; pages++) {
        const known = client.getQueryData<Known>(key);
        const older = known?.messages.filter((one) => one.seq !== null && one.seq < seq).length ?? 0;
        if (!known || known.before === null || older >= CONTEXT) return;
        await loadOlder();
      }
    },
  };
}

/** Joins the newest page with what is known; begins anew where messages between them are missing. */
function withNewest(known: Known | undefined, page: MessagePage): Known {
  const newest = page.messages.toReversed();
  const first = newest.find(({ seq }) => seq !== null)?.seq;
  const older = known?.messages.filter(({ seq }) => seq !== null && seq < (first ?? 0)) ?? [];
  const isJoined = known?.messages.some(({ seq }) => seq !== null && seq === first) ?? false;
  if (!known || !isJoined || older.length === 0) return { messages: newest, before: page.before };
  return { messages: [...older, ...newest], before: known.before };
}

const withOlder = (known: Known, page: MessagePage): Known => {
  const first = known.messages.find(({ seq }) => seq !== null)?.seq ?? Number.POSITIVE_INFINITY;
  const older = page.messages.toReversed().filter(({ seq }) => seq !== null && seq < first);
  return { messages: [...older, ...known.messages], before: page.before };
};

/** Shows a message that the server has taken, before it is read from there. */
export function addSent(client: QueryClient, agentId: string, id: string, message: MessageView): void {
  client.setQueryData<Known>(messagesKey(agentId, id), (known = { messages: [], before: null }) =>
    known.messages.some((one) => one.id === message.id) ? known : { ...known, messages: [...known.messages, message] },
  );
}

/** Reads a conversation again, with the list and what waits for approval. */
export function refreshConversation(client: QueryClient, agentId: string, id: string): Promise<unknown> {
  return Promise.all([
    client.invalidateQueries({ queryKey: messagesKey(agentId, id) }),
    client.invalidateQueries({ queryKey: conversationsKey(agentId) }),
    client.invalidateQueries({ queryKey: approvalsKey(agentId) }),
  ]);
}

/** Other tabs are told of what happens in this one before the server has an event for it. */
const channel = new BroadcastChannel("berth-chat");

export const tellOtherTabs = (agentId: string, id: string): void => channel.postMessage({ agentId, id });

/** Reads again what another tab has changed. */
export function useOtherTabs(agentId: string): void {
  const client = useQueryClient();
  const receive = useEffectEvent(({ data }: MessageEvent<{ agentId: string; id: string }>) => {
    if (data.agentId === agentId) void refreshConversation(client, agentId, data.id);
  });
  useEffect(() => {
    const listen = (event: MessageEvent) => receive(event);
    channel.addEventListener("message", listen);
    return () => channel.removeEventListener("message", listen);
  }, []);
}

/** An item of `GET /api/agents/:id/approvals`, as far as it is shown here. */
export type Approval = Pick<
  ApprovalItem,
  "id" | "turnId" | "tool" | "class" | "summary" | "input" | "influence" | "status" | "usedAt"
>;

export const approvalsKey = (agentId: string) => ["approvals", agentId, "of-turns"] as const;

/** Requests for approval by turn; read only where a turn has made one. */
export function useApprovals(agentId: string, isWanted: boolean): ReadonlyMap<string, Approval[]> {
  const client = useQueryClient();
  useEvents(["approval."], ({ data }) => {
    if (data.agentId === agentId) void client.invalidateQueries({ queryKey: approvalsKey(agentId) });
  });
  const { data } = useQuery({
    queryKey: approvalsKey(agentId),
    queryFn: () => api.get<{ approvals: Approval[] }>(path`/api/agents/${agentId}/approvals`, { limit: 100 }),
    enabled: isWanted,
  });
  return Map.groupBy(data?.approvals ?? [], ({ turnId }) => turnId);
}
