// Makes a chart's points of a usage report: one for each day, also those without any use.

import type { Usage } from "../api-types.ts";

const DAY_MS = 86_400_000;

export function daysOf({ from, to, rows }: Pick<Usage, "from" | "to" | "rows">): { times: number[]; costs: number[] } {
  const costs = new Map(rows.map(({ key, costUsd }) => [key, costUsd]));
  const times: number[] = [];
  for (let at = Date.parse(from); at <= Date.parse(to); at += DAY_MS) times.push(at);
  return { times, costs: times.map((at) => costs.get(new Date(at).toISOString().slice(0, 10)) ?? 0) };
}
