// Cost over time, by model or by agent: the three dearest and all others together.

import { useMemo } from "react";
import { type Bar, StackedBars } from "../../parts/charts/stacked-bars.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";
import { Choice } from "../../parts/forms/choice.tsx";
import { Section } from "../../parts/page/page.tsx";
import { Skeleton } from "../../parts/skeleton.tsx";
import { useParameter } from "../../viewer/address.ts";
import { formatTime, formatUsd, t } from "../../viewer/language.ts";
import { barOf, type Grain, grainOf, type Range } from "./range.ts";
import { type SeriesAnswer, useSeries } from "./usage.ts";

/** Series that are told apart at a glance. */
const SHOWN = 3;

export function CostChart({ range }: { range: Range }) {
  const [wanted, setBy] = useParameter("by");
  const by = wanted === "agent" ? "agent" : "model";
  const { data, error, refetch } = useSeries(range, by);
  const grain = grainOf(data?.days.length ?? 0);
  const titles: Record<Grain, string> = { day: t("Cost by day"), week: t("Cost by week"), month: t("Cost by month") };
  const units: Record<Grain, string> = { day: t("Day"), week: t("Week from"), month: t("Month") };
  return (
    <Section
      title={titles[grain]}
      hint={t("Days are those of UTC.")}
      actions={
        <Choice
          label={t("What the bars show")}
          value={by}
          onChange={(value) => setBy(value === "model" ? "" : value)}
          options={[
            { value: "model", label: t("By model") },
            { value: "agent", label: t("By agent") },
          ]}
        />
      }
    >
      {error && !data && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Skeleton className="h-64" />}
      {data && <Drawing data={data} grain={grain} by={by} title={titles[grain]} unit={units[grain]} />}
    </Section>
  );
}

interface DrawingProps {
  data: SeriesAnswer;
  grain: Grain;
  by: "model" | "agent";
  title: string;
  unit: string;
}

function Drawing({ data, grain, by, title, unit }: DrawingProps) {
  const { parts, bars } = useMemo(() => toBars(data, grain, by), [data, grain, by]);
  if (parts.length === 0) return <p className="py-8 text-soft">{t("Nothing was spent in this time.")}</p>;
  return <StackedBars label={title} unit={unit} parts={parts} bars={bars} format={formatUsd} />;
}

function toBars({ series, days }: SeriesAnswer, grain: Grain, by: "model" | "agent") {
  const named = series.map((one, index) => ({ ...one, index })).filter(({ id, costUsd }) => id !== "" && costUsd > 0);
  const shown = named.slice(0, SHOWN);
  const indexes = new Set(shown.map(({ index }) => index));
  const rest = series.some(({ costUsd }, index) => costUsd > 0 && !indexes.has(index));
  const others = by === "model" ? t("Other models") : t("Others, and own API calls");
  const parts = [
    ...shown.map(({ id, name }) => ({ key: id, label: name ?? t("A deleted agent") })),
    ...(rest ? [{ key: "", label: others }] : []),
  ];
  const bars = new Map<string, Bar & { values: number[] }>();
  for (const { date, costUsd } of days) {
    const key = barOf(date, grain);
    const bar = bars.get(key) ?? { key, label: labelOf(key, grain), values: parts.map(() => 0) };
    for (const [index, cost] of costUsd.entries()) {
      const position = shown.findIndex((one) => one.index === index);
      const at = position === -1 ? parts.length - 1 : position;
      bar.values[at] = (bar.values[at] ?? 0) + cost;
    }
    bars.set(key, bar);
  }
  return { parts, bars: [...bars.values()] };
}

const labelOf = (date: string, grain: Grain) =>
  formatTime(
    Date.parse(date),
    grain === "month"
      ? { month: "short", year: "numeric", timeZone: "UTC" }
      : { day: "numeric", month: "short", timeZone: "UTC" },
  );
