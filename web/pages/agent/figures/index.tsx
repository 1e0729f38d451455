// An agent's figures over a day, a week or a month, drawn and as tables.

import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { api, path } from "../../../api/api.ts";
import { useLive } from "../../../api/events.ts";
import { Chart } from "../../../parts/charts/chart.tsx";
import type { Series } from "../../../parts/charts/chart-props.ts";
import { ErrorNote } from "../../../parts/error-note.tsx";
import { Choice } from "../../../parts/forms/choice.tsx";
import { EmptyState } from "../../../parts/page/empty-state.tsx";
import { Section } from "../../../parts/page/page.tsx";
import { Skeleton } from "../../../parts/skeleton.tsx";
import { useParameter } from "../../../viewer/address.ts";
import { formatDuration, formatNumber, formatUsd, t } from "../../../viewer/language.ts";
import { viewerZone } from "../../../viewer/time-zone.ts";
import { useAgent } from "../agent.tsx";
import type { FigureSums, Figures } from "./data.ts";
import { KeyFigures } from "./key-figures.tsx";

const RANGES = ["day", "week", "month"] as const;

export default function FiguresPage() {
  const { id } = useAgent();
  const [chosen, choose] = useParameter("range");
  const range = RANGES.find((one) => one === chosen) ?? "day";
  const key = ["figures", id] as const;
  const { data, error, isPending, refetch } = useQuery({
    queryKey: [...key, range],
    queryFn: () => api.get<FigureSums>(path`/api/agents/${id}/figures`, { range, timezone: viewerZone }),
    placeholderData: (before) => before,
  });
  useLive(key, ["agent.message"], ({ data: about }) => about.agentId === id);
  return (
    <>
      <Section
        title={t("Figures")}
        hint={t("Each turn counts when it ends. Sums are kept for 35 days.")}
        actions={
          <Choice
            label={t("Time")}
            value={range}
            onChange={(value) => choose(value === "day" ? "" : value)}
            options={[
              { value: "day", label: t("24 hours") },
              { value: "week", label: t("7 days") },
              { value: "month", label: t("30 days") },
            ]}
          />
        }
      >
        {error && <ErrorNote error={error} onRetry={() => void refetch()} />}
        {isPending && <Skeleton className="h-28" />}
        {data && <KeyFigures total={data.total} />}
      </Section>
      {isPending && <Skeleton className="h-72" />}
      {data && (isEmpty(data.total) ? <NothingYet /> : <Charts points={data.points} />)}
    </>
  );
}

const isEmpty = ({ received, turnsOk, turnsFailed, costUsd }: Figures) =>
  received + turnsOk + turnsFailed + costUsd === 0;

const NothingYet = () => (
  <EmptyState title={t("Nothing happened in this time")}>
    {t("As soon as somebody writes to the agent, its messages, costs and answer times are drawn here.")}
  </EmptyState>
);

function Charts({ points }: { points: FigureSums["points"] }) {
  const times = useMemo(() => points.map(({ at }) => Date.parse(at)), [points]);
  const charts = useMemo(() => {
    const series = (
      label: string,
      name: Exclude<keyof FigureSums["points"][number], "at">,
      format?: Series["format"],
    ): Series => ({ label, values: points.map((point) => point[name]), ...(format && { format }) });
    return [
      { title: t("Messages and answers"), series: [series(t("Received"), "received"), series(t("Answered"), "sent")] },
      { title: t("Cost"), kind: "bars" as const, series: [series(t("Cost"), "costUsd", formatUsd)] },
      {
        title: t("Answer time"),
        series: [
          series(t("Average"), "averageAnswerMs", formatDuration),
          series(t("95 of 100 are faster"), "p95AnswerMs", formatDuration),
        ],
      },
      {
        title: t("Tokens"),
        series: [series(t("Read"), "inputTokens", compact), series(t("Written"), "outputTokens", compact)],
      },
      { title: t("Turns"), series: [series(t("Succeeded"), "turnsOk"), series(t("Failed"), "turnsFailed")] },
    ];
  }, [points]);
  return (
    <div className="grid grid-cols-1 gap-x-5 lg:grid-cols-2">
      {charts.map(({ title, ...chart }, index) => (
        // The first one is wide, so that the others make whole rows.
        <div key={title} className={`min-w-0 ${index === 0 ? "lg:col-span-2" : ""}`}>
          <Section title={title}>
            <Chart label={title} times={times} {...chart} />
          </Section>
        </div>
      ))}
    </div>
  );
}

const compact = (value: number) => formatNumber(value, { notation: "compact" });
