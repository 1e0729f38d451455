// Bars over time, each of several parts. The parts differ by pattern as well as by colour, and the numbers are in a table.

import { useId, useState } from "react";
import { formatNumber, t } from "../../viewer/language.ts";
import { Table } from "../lists/table.tsx";

export interface BarPart {
  key: string;
  label: string;
}

export interface Bar {
  key: string;
  /** What the bar stands for, such as a day. */
  label: string;
  /** In the order of the parts. */
  values: readonly number[];
}

interface Props {
  /** What it shows, for those who don't see it. */
  label: string;
  /** The head of the table's first column. */
  unit: string;
  parts: readonly BarPart[];
  bars: readonly Bar[];
  format?: (value: number) => string;
}

const HEIGHT = 180;
const WIDTH = 1_000;
const COLORS = ["var(--series-1)", "var(--series-2)", "var(--series-3)", "var(--series-4)"];
/** Lines over the colour of a part, as SVG paths in a square of 8. */
const PATTERNS = ["", "M0 8 8 0", "M0 4h8", "M4 0v8M0 4h8"];

const sumOf = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0);

/** A round number at or above the greatest bar: 1, 2 or 5 times a power of ten. */
function roundUp(value: number): number {
  if (value <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return ([1, 2, 5, 10].find((step) => step * power >= value) ?? 10) * power;
}

export function StackedBars({ label, unit, parts, bars, format = formatNumber }: Props) {
  const id = useId();
  const [pointed, setPointed] = useState<number>();
  const top = roundUp(Math.max(0, ...bars.map(({ values }) => sumOf(values))));
  const step = WIDTH / Math.max(bars.length, 1);
  const shown = pointed === undefined ? undefined : bars[pointed];
  const fill = (index: number) => `url(#${id}-${index % COLORS.length})`;
  const columns = [
    { key: "time", head: unit, cell: (bar: Bar) => bar.label },
    ...parts.map((part, index) => ({
      key: part.key,
      head: part.label,
      isNumber: true,
      cell: (bar: Bar) => format(bar.values[index] ?? 0),
    })),
    { key: "sum", head: t("Together"), isNumber: true, cell: (bar: Bar) => format(sumOf(bar.values)) },
  ];
  return (
    <figure className="min-w-0">
      <div className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-2">
        <div
          className="flex flex-col justify-between text-right text-soft text-xs"
          aria-hidden="true"
          style={{ height: HEIGHT }}
        >
          <span className="-mt-2">{format(top)}</span>
          <span>{format(top / 2)}</span>
          <span className="-mb-2">{format(0)}</span>
        </div>
        <svg
          viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
          preserveAspectRatio="none"
          role="img"
          aria-label={label}
          className="w-full border-line border-b"
          style={{ height: HEIGHT }}
          onPointerLeave={() => setPointed(undefined)}
        >
          <defs>
            {COLORS.map((color, index) => (
              <pattern key={color} id={`${id}-${index}`} width="8" height="8" patternUnits="userSpaceOnUse">
                <rect width="8" height="8" fill={color} />
                <path d={PATTERNS[index]} stroke="var(--card)" strokeWidth="1.5" fill="none" />
              </pattern>
            ))}
          </defs>
          <path d={`M0 ${HEIGHT / 2}H${WIDTH}M0 .5H${WIDTH}`} stroke="var(--edge)" vectorEffect="non-scaling-stroke" />
          {bars.map((bar, position) => (
            <g key={bar.key} onPointerEnter={() => setPointed(position)}>
              <rect
                x={position * step}
                width={step}
                height={HEIGHT}
                fill={position === pointed ? "var(--hover)" : "transparent"}
              />
              {bar.values.map((value, index) => {
                const height = (value / top) * HEIGHT;
                const below = sumOf(bar.values.slice(0, index));
                return (
                  value > 0 && (
                    <rect
                      key={parts[index]?.key}
                      x={position * step + step * 0.15}
                      y={HEIGHT - (below / top) * HEIGHT - height}
                      width={step * 0.7}
                      height={height}
                      fill={fill(index)}
                    />
                  )
                );
              })}
            </g>
          ))}
        </svg>
        <span />
        <div className="flex justify-between pt-1 text-soft text-xs" aria-hidden="true">
          <span>{bars[0]?.label}</span>
          <span>{bars.length > 1 && bars.at(-1)?.label}</span>
        </div>
      </div>
      <p className="mt-2 min-h-5 text-sm" aria-hidden="true">
        {shown && (
          <>
            <strong>{shown.label}</strong> {format(sumOf(shown.values))}
          </>
        )}
      </p>
      <ul className="flex flex-wrap gap-x-5 gap-y-1 text-sm" aria-label={t("Legend")}>
        {parts.map((part, index) => (
          <li key={part.key} className="flex min-w-0 items-center gap-1.5">
            <svg viewBox="0 0 12 12" aria-hidden="true" className="size-3 shrink-0">
              <rect width="12" height="12" rx="2" fill={fill(index)} />
            </svg>
            <span className="min-w-0">
              {part.label} {shown && <span className="text-soft">{format(shown.values[index] ?? 0)}</span>}
            </span>
          </li>
        ))}
      </ul>
      <figcaption>
        <details className="mt-2 text-soft text-sm">
          <summary>{t("The numbers")}</summary>
          <Table label={label} columns={columns} rows={bars} keyOf={({ key }) => key} />
        </details>
      </figcaption>
    </figure>
  );
}
