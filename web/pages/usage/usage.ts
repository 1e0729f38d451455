// What the page reads: the report of a range, its series and budgets.

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { api } from "../../api/api.ts";
import { useLive } from "../../api/events.ts";
import type { Range } from "./range.ts";

export interface Sums {
  calls: number;
  cachedCalls: number;
  estimatedCalls: number;
  inputTokens: number;
  outputTokens: number;
  costUsd: number;
  ownKeyUsd: number;
  creditsUsd: number;
}

export interface Report {
  from: string;
  to: string;
  total: Sums;
  models: ({ provider: string; providerName: string; model: string } & Sums)[];
  agents: ({ agentId: string | null; name: string | null } & Sums)[];
  plan: { plan: string; limitUsd: number | null; spentUsd: number; resetsAt: string };
  credits: { left: number; usdEach: number };
}

export interface SeriesAnswer {
  series: { id: string; name: string | null; costUsd: number }[];
  days: { date: string; costUsd: number[]; calls: number; tokens: number }[];
}

interface Period {
  limitUsd: number | null;
  spentUsd: number;
  resetsAt: string;
}

export interface Budgets {
  budgets: { agentId: string; name: string; day: Period; month: Period }[];
  hasMore: boolean;
}

const KEY = ["usage"] as const;
/** After a turn there is something new to count. */
const TYPES = ["agent.message", "budget.exceeded", "user.updated"] as const;

export function useReport(range: Range) {
  useLive(KEY, TYPES);
  return useQuery({
    queryKey: [...KEY, "report", range],
    queryFn: ({ signal }) => api.get<Report>("/api/usage", { ...range }, signal),
    placeholderData: keepPreviousData,
  });
}

export const useSeries = (range: Range, by: "model" | "agent") =>
  useQuery({
    queryKey: [...KEY, "series", range, by],
    queryFn: ({ signal }) => api.get<SeriesAnswer>("/api/usage/series", { ...range, by }, signal),
    placeholderData: keepPreviousData,
  });

export const useBudgets = (limit: number) =>
  useQuery({
    queryKey: [...KEY, "budgets", limit],
    queryFn: () => api.get<Budgets>("/api/usage/budgets", { limit }),
    placeholderData: keepPreviousData,
  });
