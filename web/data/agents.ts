// The caller's agents for all pages: their overview, kept up to date by events, and the operations on them.

import { type QueryClient, useQuery, useQueryClient } from "@tanstack/react-query";
import { messageOf } from "../parts/error-note.tsx";
import { showError, showToast } from "../parts/toast.tsx";
import { api, path } from "../api/api.ts";
import { useLive } from "../api/events.ts";
import { t } from "../viewer/language.ts";

export interface AgentChannel {
  channel: string;
  /** The platform's name. */
  name: string;
  /** The bot's handle. */
  username: string;
  state: string;
  lastError: string | null;
}

/** An item of `GET /api/agents/overview`. */
export interface AgentOverview {
  id: string;
  name: string;
  status: string;
  statusReason: string | null;
  model: string;
  ownModel: string | null;
  url: string;
  verified: boolean;
  publicPage: boolean;
  channels: readonly AgentChannel[];
  pendingApprovals: number;
  costTodayUsd: number;
  lastActivityAt: string | null;
  startedAt: string | null;
  createdAt: string;
  updatedAt: string;
}

export interface AgentCounts {
  total: number;
  up: number;
  stopped: number;
  error: number;
  attention: number;
  failedChannels: number;
  pendingApprovals: number;
}

export interface OverviewPage {
  agents: AgentOverview[];
  total: number;
  counts: AgentCounts;
  costTodayUsd: number;
}

/** The first part of the keys of all queries whose data is an `OverviewPage`. */
export const OVERVIEW_KEY = ["agents", "overview"] as const;

/** What changes an overview beside messages, which `patchOverview` enters without asking again. */
export const OVERVIEW_EVENTS = [
  "agent.created",
  "agent.claimed",
  "agent.status",
  "agent.updated",
  "agent.deleted",
  "agent.verified",
  "approval.",
  "channel.state",
] as const;

export type Operation = "start" | "stop" | "restart";

export const isRunning = (status: string): boolean => status === "running" || status === "active";

export const operateAgent = (id: string, operation: Operation) =>
  api.post<{ status: string }>(`${path`/api/agents/${id}`}/${operation}`);

/** Changes an agent in every overview that is in memory. */
export function patchOverview(client: QueryClient, id: string, change: Partial<AgentOverview>): void {
  client.setQueriesData<OverviewPage>({ queryKey: OVERVIEW_KEY }, (page) => {
    if (!page?.agents.some((agent) => agent.id === id)) return page;
    return { ...page, agents: page.agents.map((agent) => (agent.id === id ? { ...agent, ...change } : agent)) };
  });
}

const findInOverviews = (client: QueryClient, id: string): AgentOverview | undefined =>
  client
    .getQueriesData<OverviewPage>({ queryKey: OVERVIEW_KEY })
    .flatMap(([, page]) => page?.agents ?? [])
    .find((agent) => agent.id === id);

/** The overview of one agent. */
export function useAgentOverview(id: string) {
  useLive(OVERVIEW_KEY, OVERVIEW_EVENTS);
  return useQuery({
    queryKey: [...OVERVIEW_KEY, "one", id],
    queryFn: () => api.get<OverviewPage>("/api/agents/overview", { query: id, limit: 1 }),
    select: ({ agents }) => agents[0],
  });
}

const RESULTS: Readonly<Record<Operation, { status: string; undo?: Operation }>> = {
  start: { status: "active", undo: "stop" },
  stop: { status: "stopped", undo: "start" },
  restart: { status: "active" },
};

function doneText(operation: Operation, name: string): string {
  if (operation === "start") return t("{name} runs", { name });
  return operation === "stop" ? t("{name} is stopped", { name }) : t("{name} was restarted", { name });
}

/** Starts, stops or restarts an agent: shown at once, with undo, and taken back if the server refuses. */
export function useOperation(): (agent: { id: string; name: string }, operation: Operation) => Promise<void> {
  const client = useQueryClient();
  return async function run({ id, name }, operation) {
    const { status, undo } = RESULTS[operation];
    const before = findInOverviews(client, id);
    const detailKey = ["agent", id, "detail"];
    const detailBefore = client.getQueryData(detailKey);
    patchOverview(client, id, { status, statusReason: null });
    client.setQueryData<{ agent: object }>(detailKey, (data) => data && { agent: { ...data.agent, status } });
    try {
      await operateAgent(id, operation);
      showToast(doneText(operation, name), undo && { label: t("Undo"), run: () => void run({ id, name }, undo) });
    } catch (error) {
      // Not left to the reading below: it fails, too, while Berth can't be reached.
      if (before) patchOverview(client, id, { status: before.status, statusReason: before.statusReason });
      client.setQueryData(detailKey, detailBefore);
      showError(messageOf(error));
    }
    await Promise.all([
      client.invalidateQueries({ queryKey: OVERVIEW_KEY }),
      client.invalidateQueries({ queryKey: detailKey }),
    ]);
  };
}
