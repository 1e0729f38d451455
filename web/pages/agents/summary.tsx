// The figures above the list, which filter it: all agents, those that need somebody, by state, and what today costs.

import type { ReactNode } from "react";
import type { AgentCounts } from "../../data/agents.ts";
import { Skeleton } from "../../parts/skeleton.tsx";
import { Status, type Tone } from "../../parts/values/status.tsx";
import { formatNumber, formatUsd, type Text, t, text } from "../../viewer/language.ts";

interface Tile {
  state: string;
  label: Text;
  count: (counts: AgentCounts) => number;
  tone?: Tone;
}

const TILES: readonly Tile[] = [
  { state: "", label: text("All"), count: ({ total }) => total },
  { state: "attention", label: text("Need you"), count: ({ attention }) => attention, tone: "warn" },
  { state: "up", label: text("Running"), count: ({ up }) => up, tone: "good" },
  { state: "stopped", label: text("Stopped"), count: ({ stopped }) => stopped, tone: "idle" },
  { state: "error", label: text("Failed"), count: ({ error }) => error, tone: "bad" },
];

interface Props {
  counts: AgentCounts | undefined;
  costTodayUsd: number | undefined;
  /** Whether they can't be had now. */
  hasFailed: boolean;
  state: string;
  onChange: (state: string) => void;
}

export const Summary = ({ counts, costTodayUsd, hasFailed, state, onChange }: Props) => (
  <div className="mb-4 grid grid-cols-3 gap-2 md:grid-cols-6">
    <fieldset className="contents">
      <legend className="sr-only">{t("Show")}</legend>
      {TILES.map(({ state: value, label, count, tone }) => (
        <label
          key={value}
          className="flex min-w-0 flex-col justify-between rounded-large border border-edge bg-card px-3 py-2 transition-colors hover:bg-hover has-checked:border-sea has-checked:bg-wash has-focus-visible:outline-2 has-focus-visible:outline-sea"
        >
          <input
            type="radio"
            name="state"
            className="sr-only"
            checked={state === value}
            onChange={() => onChange(value)}
          />
          <span className="flex min-h-5 items-center text-sm">
            {tone && counts && count(counts) > 0 ? <Status tone={tone}>{t(label)}</Status> : <Plain>{t(label)}</Plain>}
          </span>
          <span className="block h-6.5 font-semibold text-lg">
            {counts ? formatNumber(count(counts)) : hasFailed ? "–" : <Skeleton className="mt-1 h-5 w-8" />}
          </span>
        </label>
      ))}
    </fieldset>
    <div className="flex min-w-0 flex-col justify-between rounded-large border border-edge border-dashed px-3 py-2">
      <span className="flex min-h-5 items-center text-soft text-sm">{t("Cost today")}</span>
      <span className="block h-6.5 font-semibold text-lg">
        {costTodayUsd !== undefined ? (
          formatUsd(costTodayUsd)
        ) : hasFailed ? (
          "–"
        ) : (
          <Skeleton className="mt-1 h-5 w-12" />
        )}
      </span>
    </div>
  </div>
);

const Plain = ({ children }: { children: ReactNode }) => <span className="text-soft">{children}</span>;
