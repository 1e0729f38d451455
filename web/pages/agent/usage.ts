// What an agent has used, and what is left of its budget.

import { useQuery } from "@tanstack/react-query";
import { api, path } from "../../api/api.ts";
import { useLive } from "../../api/events.ts";

export interface BudgetStatus {
  limitUsd: number | null;
  spentUsd: number;
  resetsAt: string;
}

/** `GET /api/agents/:id/usage`; days are UTC, and days without calls are left out. */
export interface AgentUsage {
  from: string;
  to: string;
  total: { calls: number; costUsd: number };
  days: { date: string; calls: number; costUsd: number }[];
  budget: { day: BudgetStatus; month: BudgetStatus };
}

const DAY_MS = 86_400_000;

/** The usage of the last days, today included. */
export function useAgentUsage(id: string, days: number) {
  const key = ["agent", id, "usage", days] as const;
  useLive(key, ["agent.message", "budget."], ({ data }) => data.agentId === id);
  return useQuery({
    queryKey: key,
    queryFn: () => {
      const from = new Date(Date.now() - (days - 1) * DAY_MS).toISOString().slice(0, 10);
      return api.get<AgentUsage>(path`/api/agents/${id}/usage`, { from });
    },
  });
}

/** Each day of the report, also those without calls; midnight UTC in epoch ms. */
export function everyDay({ from, to, days }: AgentUsage): { at: number; calls: number; costUsd: number }[] {
  const known = new Map(days.map((day) => [day.date, day]));
  const result: { at: number; calls: number; costUsd: number }[] = [];
  for (let at = Date.parse(from); at <= Date.parse(to); at += DAY_MS) {
    const { calls = 0, costUsd = 0 } = known.get(new Date(at).toISOString().slice(0, 10)) ?? {};
    result.push({ at, calls, costUsd });
  }
  return result;
}
