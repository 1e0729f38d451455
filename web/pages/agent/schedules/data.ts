// Schedules, their runs and the places for their answers, as the API has them.

import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { api, path } from "../../../api/api.ts";
import { useLive } from "../../../api/events.ts";

export type RunStatus = "running" | "done" | "failed" | "cancelled" | "skipped";
export type Deliver = { platform: string; peer: string } | { webhook: true } | null;
export type Missed = "skip" | "once" | "all";

/** An item of `GET /api/agents/:id/schedules`. */
export interface Schedule {
  id: string;
  name: string;
  prompt: string;
  cron: string | null;
  at: string | null;
  timezone: string;
  deliver: Deliver;
  missed: Missed;
  enabled: boolean;
  statusReason: string | null;
  source: "owner" | "agent" | "config";
  untrusted: boolean;
  nextRunAt: string | null;
  lastRunAt: string | null;
  lastStatus: RunStatus | null;
  failures: number;
}

export interface Run {
  id: string;
  cause: "time" | "missed" | "manual";
  dueAt: string;
  missed: number;
  status: RunStatus;
  turnId: string | null;
  sessionId: string | null;
  error: string | null;
  startedAt: string;
  endedAt: string | null;
}

/** The most of one request, and of what an agent may have. */
const PAGE = 100;
const MAX_SCHEDULES = 200;

export const schedulesKey = (agentId: string) => ["agent", agentId, "schedules"] as const;

export function useSchedules(agentId: string) {
  const queryKey = schedulesKey(agentId);
  useLive(queryKey, ["schedule."], ({ data }) => data.agentId === agentId);
  return useQuery({
    queryKey,
    async queryFn() {
      const found: Schedule[] = [];
      while (found.length < MAX_SCHEDULES) {
        const page = { limit: PAGE, offset: found.length };
        const { schedules } = await api.get<{ schedules: Schedule[] }>(path`/api/agents/${agentId}/schedules`, page);
        found.push(...schedules);
        if (schedules.length < PAGE) break;
      }
      return found;
    },
  });
}

export function useRuns(agentId: string, scheduleId: string) {
  const queryKey = ["agent", agentId, "schedule-runs", scheduleId] as const;
  useLive(queryKey, ["schedule."], ({ data }) => data.scheduleId === scheduleId);
  return useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam }) =>
      api.get<{ runs: Run[]; nextCursor: string | null }>(path`/api/agents/${agentId}/schedules/${scheduleId}/runs`, {
        limit: 10,
        cursor: pageParam || undefined,
      }),
    initialPageParam: "",
    getNextPageParam: ({ nextCursor }) => nextCursor,
  });
}

export const usePreview = (agentId: string, request: { cron: string } | { at: string } | undefined, timezone: string) =>
  useQuery({
    queryKey: ["agent", agentId, "preview", request, timezone],
    enabled: request !== undefined && timezone !== "",
    queryFn: ({ signal }) =>
      api.post<{ next: string[] }>(
        path`/api/agents/${agentId}/schedules/preview`,
        { ...request, timezone },
        { signal },
      ),
    retry: false,
    staleTime: 30_000,
    placeholderData: (before) => before,
  });
