// The drawing of a chart. uPlot draws on a canvas, so the colours are read from the tokens, again at a change of theme.

import { useEffect, useRef } from "react";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { formatNumber, formatTime, t } from "../../viewer/language.ts";
import { onThemeChange } from "../../viewer/theme.ts";
import { viewerZone } from "../../viewer/time-zone.ts";
import { type ChartProps, DAY } from "./chart-props.ts";

/** Lines differ by dashes too, for those who don't tell the colours apart. */
const DASHES = [[], [6, 4], [2, 3], [10, 3, 2, 3]];

const dashOf = (index: number): number[] => DASHES[index % DASHES.length] ?? [];
const tokenOf = (index: number): string => `--series-${(index % DASHES.length) + 1}`;

/** Steps of an axis of counts: half a message is none. */
const WHOLE_STEPS = Array.from({ length: 16 }, (_, power) => [1, 2, 5].map((step) => step * 10 ** power)).flat();

export default function Plot({ label, times, series, kind = "line", isByDay = false, height = 200 }: ChartProps) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    let plot = draw(element);
    const redraw = () => {
      plot.destroy();
      plot = draw(element);
    };
    const stopFollowing = onThemeChange(redraw);
    const resize = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height }));
    resize.observe(element);
    return () => {
      stopFollowing();
      resize.disconnect();
      plot.destroy();
    };

    function draw(parent: HTMLElement): uPlot {
      const color = (name: string) => resolveColor(parent, name);
      const axis = { stroke: color("--soft"), grid: { stroke: color("--edge"), width: 1 }, ticks: { show: false } };
      const format = series[0]?.format ?? ((value: number) => formatNumber(value, { notation: "compact" }));
      const isCount = series.every(({ values }) => values.every((value) => value === null || Number.isInteger(value)));
      // Bars stand around their time: the first and the last one need room, too.
      const halfBar = ((times[1] ?? 0) - (times[0] ?? 0)) / 2_000;
      const options: uPlot.Options = {
        class: "is-idle",
        width: parent.clientWidth,
        height,
        // Room for half a label at the right.
        padding: [8, 28, 0, 0],
        cursor: { y: false, points: { size: 6 } },
        legend: { live: true, markers: { show: false } },
        // The values below the drawing are those at the pointer: there are none before it comes.
        hooks: {
          ready: [({ root }) => addLegendLines(root, series.length, color, kind)],
          setLegend: [({ root, cursor }) => root.classList.toggle("is-idle", cursor.idx == null)],
        },
        tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1_000), isByDay ? "UTC" : viewerZone),
        axes: [
          { ...axis, size: 32, space: 76, values: (_, ticks) => ticks.map(formatTick(ticks, isByDay)) },
          {
            ...axis,
            size: 64,
            values: (_, ticks) => ticks.map((tick) => format(tick, (ticks[1] ?? 0) - (ticks[0] ?? 0))),
            ...(isCount && { incrs: WHOLE_STEPS }),
          },
        ],
        scales: {
          ...(kind === "bars" && {
            x: { range: (_: uPlot, min: number, max: number) => [min - halfBar, max + halfBar] },
          }),
          y: { range: (_, min, max) => [Math.min(0, min ?? 0), (max ?? 0) > 0 ? max * 1.05 : 1] },
        },
        series: [
          {
            label: t("Time"),
            value: (_, time: number | null) =>
              time === null ? "–" : formatTime(time * 1_000, isByDay ? DAY : undefined),
          },
          ...series.map((one, index) => {
            const stroke = color(tokenOf(index));
            return {
              label: one.label,
              stroke,
              width: 2,
              dash: dashOf(index),
              points: { show: true, filter: () => lonely(one.values) },
              value: (_: uPlot, value: number | null) => (value === null ? "–" : (one.format ?? formatNumber)(value)),
              ...(kind === "bars" && { fill: stroke, paths: uPlot.paths.bars?.({ size: [0.7, 40] }), dash: [] }),
            } as uPlot.Series;
          }),
        ],
      };
      const data = [times.map((time) => time / 1_000), ...series.map(({ values }) => [...values])] as uPlot.AlignedData;
      return new uPlot(options, data, parent);
    }
  }, [times, series, kind, isByDay, height]);
  return (
    <div ref={box} role="img" aria-label={label} className="min-w-0 overflow-hidden" style={{ minHeight: height }} />
  );
}

/** The places of values without a neighbour: no line leads to them, so that only a dot shows them. */
function lonely(values: readonly (number | null)[]): number[] {
  return values.flatMap((value, index) =>
    value !== null && (values[index - 1] ?? null) === null && (values[index + 1] ?? null) === null ? [index] : [],
  );
}

/** Puts before each name of the legend a piece of its line, with the line's dashes. The first row is the time. */
function addLegendLines(root: HTMLElement, count: number, color: (name: string) => string, kind: ChartProps["kind"]) {
  const names = [...root.querySelectorAll(".u-legend .u-series th")].slice(1, count + 1);
  for (const [index, name] of names.entries()) {
    const make = (tag: string, attributes: Record<string, string>) => {
      const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
      for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
      return element;
    };
    const svg = make("svg", { viewBox: "0 0 28 10", width: "28", height: "10", "aria-hidden": "true" });
    const stroke = color(tokenOf(index));
    svg.append(
      kind === "bars"
        ? make("rect", { x: "9", width: "10", height: "10", rx: "2", fill: stroke })
        : make("path", { d: "M0 5h28", stroke, "stroke-width": "2", "stroke-dasharray": dashOf(index).join(" ") }),
    );
    name.prepend(svg);
  }
}

/** A canvas knows no `light-dark()`: the colour that an element gets from it is read. */
function resolveColor(parent: HTMLElement, name: string): string {
  const probe = document.createElement("i");
  probe.style.color = `var(${name})`;
  parent.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

function formatTick(ticks: readonly number[], isByDay: boolean): (tick: number) => string {
  const span = (ticks.at(-1) ?? 0) - (ticks[0] ?? 0);
  const options: Intl.DateTimeFormatOptions =
    span <= 36 * 3_600 && !isByDay
      ? { hour: "2-digit", minute: "2-digit" }
      : { day: "numeric", month: "short", ...(isByDay && { timeZone: "UTC" }) };
  return (tick) => formatTime(tick * 1_000, options);
}
