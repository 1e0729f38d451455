// Counters, gauges and histograms in Prometheus's text format. prom-client would be loaded at the start and hashes labels
// at each increment; an increment of a bound series here is one addition.
import type { Counter, GaugeReadings, Histogram, Labelled, Measurements, Metrics } from "./metric-types.ts";
import { registerProcessMetrics } from "./process-metrics.ts";
import { createReadings } from "./readings.ts";

export type { Counter, GaugeReadings, Histogram, Labelled, Measurements, Metrics } from "./metric-types.ts";

/** For requests and model calls: half a millisecond to a minute. */
export const secondsBuckets = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** The most series of one metric. Further ones are counted together, with "other" as every label. */
const MAX_SERIES = 1000;

/** Makes a registry with the metrics of the process. Registering an invalid name, or one twice, throws an Error. */
export function createMetrics(): Metrics {
  const registered = new Map<string, RegisteredMetric & { help: string; type: string }>();

  function register(name: string, help: string, type: string, metric: RegisteredMetric): void {
    if (!/^[a-z_][a-z0-9_]*$/.test(name)) throw new Error(`${name} is not a valid name for a metric.`);
    if (registered.has(name)) throw new Error(`There are two metrics called ${name}.`);
    registered.set(name, Object.assign(metric, { help, type }));
  }

  function counter(name: string, help: string): Counter;
  function counter<const N extends readonly string[]>(name: string, help: string, labels: N): Labelled<Counter, N>;
  function counter(name: string, help: string, labels: readonly string[] = []): Counter | Labelled<Counter, string[]> {
    const series = family(labels, makeCounter);
    register(name, help, "counter", {
      render: () => series.render((text, { value }) => formatSample(name, text, value())),
      sum: (isWanted) => series.sum(isWanted, ({ value }) => value()),
    });
    return labels.length === 0 ? series.labels({}) : series;
  }

  function gauge(name: string, help: string, read: () => number | undefined): void;
  function gauge<const N extends readonly string[]>(
    name: string,
    help: string,
    labels: N,
    read: () => GaugeReadings<N>,
  ): void;
  function gauge(name: string, help: string, ...rest: GaugeRest) {
    const readings = (): (readonly [labels: string, value: number])[] => {
      if (rest.length === 1) {
        const value = rest[0]();
        return value === undefined ? [] : [["", value]];
      }
      const [labels, read] = rest;
      return Array.from(read(), ([values, value]) => [labelText(labels, values), value] as const);
    };
    // Only what is measured can be a counter here.
    register(name, help, name.endsWith("_total") ? "counter" : "gauge", {
      render: () =>
        readings()
          .map(([text, value]) => formatSample(name, text, value))
          .join(""),
      sum: (isWanted) => readings().reduce((sum, [text, value]) => (isWanted(text) ? sum + value : sum), 0),
    });
  }

  function histogram(name: string, help: string, buckets?: readonly number[]): Histogram;
  function histogram<const N extends readonly string[]>(
    name: string,
    help: string,
    labels: N,
    buckets?: readonly number[],
  ): Labelled<Histogram, N>;
  function histogram(
    name: string,
    help: string,
    third: readonly number[] | readonly string[] = [],
    fourth?: readonly number[],
  ): Histogram | Labelled<Histogram, string[]> {
    const labels = third.filter((label) => typeof label === "string");
    const own = third.filter((bound) => typeof bound === "number");
    const buckets = fourth ?? (own.length > 0 ? own : secondsBuckets);
    const series = family(labels, () => makeHistogram(buckets));
    register(name, help, "histogram", {
      render: () => series.render((text, one) => one.lines(name, text)),
      sum: (isWanted) => series.sum(isWanted, ({ count }) => count()),
      buckets() {
        const counts = new Float64Array(buckets.length + 1);
        series.each((one) => one.addTo(counts));
        return { bounds: buckets, counts };
      },
    });
    return labels.length === 0 ? series.labels({}) : series;
  }

  const failures = counter("berth_metrics_reading_failures_total", "Figures that a scrape could not read in time.");
  const readings = createReadings(failures.inc);
  function measured<Name extends string>(
    families: Readonly<Record<Name, readonly [help: string, ...labels: string[]]>>,
    measure: () => Promise<Measurements<Name>>,
  ): void {
    const last = readings.add<Measurements<string>>(measure);
    for (const [name, [help, ...labels]] of Object.entries<readonly [string, ...string[]]>(families)) {
      const series = () => {
        const found = last()?.[name];
        return found === undefined ? [] : typeof found === "number" ? [[{}, found] as const] : found;
      };
      gauge(name, help, labels, series);
    }
  }
  const { takeWorstLag, stop } = registerProcessMetrics({ gauge, measured });
  const render = () =>
    Array.from(
      registered,
      ([name, { help, type, render }]) => `# HELP ${name} ${escapeText(help)}\n# TYPE ${name} ${type}\n${render()}`,
    ).join("");
  return {
    counter,
    gauge,
    histogram,
    measured,
    async scrape() {
      await readings.load();
      return render();
    },
    render,
    sum(name, labels = {}) {
      const wanted = Object.entries(labels).map(([label, value]) => labelText([label], { [label]: value }));
      return registered.get(name)?.sum((text) => wanted.every((label) => text.includes(label))) ?? 0;
    },
    buckets: (name) => registered.get(name)?.buckets?.() ?? { bounds: [], counts: new Float64Array(1) },
    takeWorstLag,
    stop,
  };
}

interface RegisteredMetric {
  render(): string;
  /** Adds the series whose label text is wanted. */
  sum(isWanted: (labels: string) => boolean): number;
  /** Of histograms only. */
  buckets?(): { bounds: readonly number[]; counts: Float64Array };
}

type GaugeRest = [read: () => number | undefined] | [labels: readonly string[], read: () => GaugeReadings<string[]>];

/** The series of one metric, by their label values. */
function family<Series>(names: readonly string[], make: () => Series) {
  const all = new Map<string, Series>();
  return {
    labels(values: Readonly<Record<string, string>>): Series {
      let text = labelText(names, values);
      if (!all.has(text) && all.size >= MAX_SERIES) text = labelText(names, {}, "other");
      let series = all.get(text);
      if (!series) {
        series = make();
        all.set(text, series);
      }
      return series;
    },
    render: (one: (labels: string, series: Series) => string) =>
      Array.from(all, ([labels, series]) => one(labels, series)).join(""),
    sum(isWanted: (labels: string) => boolean, read: (series: Series) => number): number {
      let sum = 0;
      for (const [labels, series] of all) if (isWanted(labels)) sum += read(series);
      return sum;
    },
    each(visit: (series: Series) => void): void {
      for (const series of all.values()) visit(series);
    },
  };
}

function makeCounter() {
  let total = 0;
  return {
    inc(by = 1) {
      if (by > 0) total += by; // Prometheus takes a falling counter for a restart of the process.
    },
    value: () => total,
  };
}

function makeHistogram(bounds: readonly number[]) {
  const counts = new Float64Array(bounds.length + 1);
  let sum = 0;
  return {
    observe(value: number) {
      let index = 0;
      while (index < bounds.length && value > (bounds[index] ?? 0)) index++;
      counts[index] = (counts[index] ?? 0) + 1;
      sum += value;
    },
    count: () => counts.reduce((total, count) => total + count, 0),
    addTo(totals: Float64Array) {
      for (const [index, count] of counts.entries()) totals[index] = (totals[index] ?? 0) + count;
    },
    lines(name: string, labels: string) {
      const separator = labels && ",";
      let total = 0;
      let text = "";
      counts.forEach((count, index) => {
        total += count;
        const bound = bounds[index] ?? "+Inf";
        text += formatSample(`${name}_bucket`, `${labels}${separator}le="${bound}"`, total);
      });
      return text + formatSample(`${name}_sum`, labels, sum) + formatSample(`${name}_count`, labels, total);
    },
  };
}

const formatSample = (name: string, labels: string, value: number) =>
  `${name}${labels && `{${labels}}`} ${formatNumber(value)}\n`;

const labelText = (names: readonly string[], values: Readonly<Record<string, string>>, otherwise = "") =>
  names.map((name) => `${name}="${escapeText(values[name] ?? otherwise).replaceAll('"', '\\"')}"`).join(",");

const escapeText = (text: string) => text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n");

function formatNumber(value: number): string {
  if (Number.isFinite(value)) return String(value);
  return Number.isNaN(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf";
}
