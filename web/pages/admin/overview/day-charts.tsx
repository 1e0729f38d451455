// The figures of the last day, as small charts that share their times.

import { useQuery } from "@tanstack/react-query";
import { api } from "../../../api/api.ts";
import { Chart } from "../../../parts/charts/chart.tsx";
import { Loaded } from "../../../parts/page/loaded.tsx";
import { Section } from "../../../parts/page/page.tsx";
import { formatBytes, formatDuration, formatNumber, formatUsd, type Text, t, text } from "../../../viewer/language.ts";
import type { Figures } from "../api-types.ts";
import { MissingCells } from "../missing-cells.tsx";

const count = (value: number) => formatNumber(value, { maximumFractionDigits: 1, notation: "compact" });

interface ChartRow {
  title: Text;
  series: readonly { name: keyof Figures["figures"]; label: Text }[];
  format: (value: number) => string;
}

const CHARTS: readonly ChartRow[] = [
  {
    title: text("Replies of agents"),
    series: [
      { name: "turns", label: text("Replies") },
      { name: "failedTurns", label: text("Failed") },
    ],
    format: count,
  },
  { title: text("Cost of models"), series: [{ name: "costUsd", label: text("Cost") }], format: formatUsd },
  {
    title: text("Calls of models"),
    series: [
      { name: "modelCalls", label: text("Calls") },
      { name: "failedCalls", label: text("Failed") },
    ],
    format: count,
  },
  {
    title: text("Waiting"),
    series: [
      { name: "inbox", label: text("Incoming messages") },
      { name: "outbox", label: text("Replies") },
    ],
    format: count,
  },
  {
    title: text("Requests"),
    series: [
      { name: "requests", label: text("Requests") },
      { name: "serverErrors", label: text("Failed") },
    ],
    format: count,
  },
  {
    title: text("Response time and pauses"),
    series: [
      { name: "latencyMs", label: text("95 of 100 requests within") },
      { name: "lagMs", label: text("Longest pause") },
    ],
    format: formatDuration,
  },
  {
    title: text("Messages over channels"),
    series: [{ name: "channelMessages", label: text("Incoming messages") }],
    format: count,
  },
  {
    title: text("Memory of the process"),
    series: [{ name: "memoryBytes", label: text("Memory of the process") }],
    format: formatBytes,
  },
];

export function DayCharts() {
  const query = useQuery({
    queryKey: ["admin", "figures"],
    queryFn: () => api.get<Figures>("/api/admin/figures", { step: 5 }),
    refetchInterval: 60_000,
  });
  return (
    <Section title={t("The last 24 hours")} hint={t("One point for 5 minutes. In a gap the service did not run.")}>
      <Loaded query={query} height="h-96">
        {(data) => (
          <>
            <MissingCells cells={data.cells} />
            <Grid {...data} />
          </>
        )}
      </Loaded>
    </Section>
  );
}

function Grid({ from, stepSeconds, figures }: Figures) {
  const start = Date.parse(from);
  const times = figures.requests.map((_, index) => start + index * stepSeconds * 1_000);
  return (
    <div className="grid gap-x-8 gap-y-5 lg:grid-cols-2">
      {CHARTS.map(({ title, series, format }) => (
        <div key={title} className="min-w-0">
          <h3 className="mb-1 font-medium">{t(title)}</h3>
          <Chart
            label={t(title)}
            times={times}
            height={150}
            series={series.map(({ name, label }) => ({ label: t(label), values: figures[name], format }))}
          />
        </div>
      ))}
    </div>
  );
}
