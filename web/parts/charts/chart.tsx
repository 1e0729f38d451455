// Draws series over time with uPlot. The same numbers are in a table below, for those who don't see or trust the drawing.

import { useState } from "react";
import { formatNumber, formatTime, t } from "../../viewer/language.ts";
import { lazyPart } from "../lazy.tsx";
import { Table } from "../lists/table.tsx";
import { Skeleton } from "../skeleton.tsx";
import { type ChartProps, DAY } from "./chart-props.ts";

const Plot = lazyPart<ChartProps & { height: number }>(
  () => import("./plot.tsx"),
  ({ height }) => (
    <div style={{ height }}>
      <Skeleton className="h-full" />
    </div>
  ),
);

export function Chart(props: ChartProps) {
  // A page may hold many charts of some hundred points: their tables are made when they are asked for.
  const [isTableOpen, setTableOpen] = useState(false);
  const { label, times, series, isByDay = false, height = 200 } = props;
  const columns = [
    { key: "time", head: t("Time"), cell: (index: number) => formatTime(times[index] ?? 0, isByDay ? DAY : undefined) },
    ...series.map(({ label, values, format = formatNumber }) => ({
      key: label,
      head: label,
      isNumber: true,
      cell: (index: number) => {
        const value = values[index];
        return value === null || value === undefined ? "–" : format(value);
      },
    })),
  ];
  return (
    <figure>
      <Plot {...props} height={height} />
      <figcaption>
        <details className="mt-1 text-soft text-sm" onToggle={({ currentTarget }) => setTableOpen(currentTarget.open)}>
          <summary>{t("The numbers")}</summary>
          {isTableOpen && (
            <Table label={label} columns={columns} rows={times.map((_, index) => index)} keyOf={String} />
          )}
        </details>
      </figcaption>
    </figure>
  );
}
