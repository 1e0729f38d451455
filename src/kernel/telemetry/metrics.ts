// Counters, gauges and histograms in Prometheus's text format. prom-client would be loaded at the start and hashes labels
// at each increment; an increment of a bound series here is one addition.

type LabelValues<Names extends readonly string[]> = Readonly<Record<Names[number], string>>;

/** One series of a counter. */
export interface Counter {
  /** Adds 1, or an amount of at least 0. */
  inc(by?: number): void;
}

/** One series of a histogram. */
export interface Histogram {
  /** Records a value in the unit that the metric's name ends in, by convention seconds or bytes. */
  observe(value: number): void;
}

/** A metric with labels. Bind a series once, keep it, and use it on the hot path. */
export interface Labelled<Series, Names extends readonly string[]> {
  labels(values: LabelValues<Names>): Series;
}

/** The labels and the value of each series of a gauge, at one scrape. */
export type GaugeReadings<Names extends readonly string[]> = Iterable<readonly [LabelValues<Names>, number]>;

export interface Metrics {
  counter(name: string, help: string): Counter;
  counter<const Names extends readonly string[]>(name: string, help: string, labels: Names): Labelled<Counter, Names>;
  /** `read` is called at each scrape. */
  gauge(name: string, help: string, read: () => number): void;
  gauge<const Names extends readonly string[]>(
    name: string,
    help: string,
    labels: Names,
    read: () => GaugeReadings<Names>,
  ): void;
  /** `buckets` are upper bounds, ascending. Default: `secondsBuckets`. */
  histogram(name: string, help: string, buckets?: readonly number[]): Histogram;
  histogram<const Names extends readonly string[]>(
    name: string,
    help: string,
    labels: Names,
    buckets?: readonly number[],
  ): Labelled<Histogram, Names>;
  /** Renders all metrics in the text format 0.0.4 (`text/plain; version=0.0.4`). */
  render(): string;
  /**
   * The sum over the series of a metric that have these labels; of a histogram the number of its values. 0 for a metric
   * that is not registered.
   */
  sum(name: string, labels?: Readonly<Record<string, string>>): number;
  /** The values of a histogram in each bucket, over all its series, with the upper bounds; the last bucket has none. */
  buckets(name: string): { bounds: readonly number[]; counts: Float64Array };
  /** The worst delay of a timer in ms since the last call. Does not affect the gauge that scrapers read. */
  takeWorstLag(): number;
  /** Stops measuring the event loop. */
  stop(): void;
}

/** For requests and model calls: half a millisecond to a minute. */
export const secondsBuckets = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** The most series of one metric. Further ones are counted together, with "other" as every label. */
const MAX_SERIES = 1000;
const LAG_INTERVAL_MS = 500;

/** Makes a registry with the metrics of the process. Registering an invalid name, or one twice, throws an Error. */
export function createMetrics(): Metrics {
  const registered = new Map<string, RegisteredMetric>();

  function register(name: string, help: string, type: string, metric: RegisteredMetric): void {
    if (!/^[a-z_][a-z0-9_]*$/.test(name)) throw new Error(`${name} is not a valid name for a metric.`);
    if (registered.has(name)) throw new Error(`There are two metrics called ${name}.`);
    const head = `# HELP ${name} ${escapeText(help)}\n# TYPE ${name} ${type}\n`;
    registered.set(name, { ...metric, render: () => head + metric.render() });
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

  function gauge(name: string, help: string, read: () => number): void;
  function gauge<const N extends readonly string[]>(
    name: string,
    help: string,
    labels: N,
    read: () => GaugeReadings<N>,
  ): void;
  function gauge(name: string, help: string, ...rest: GaugeRest) {
    const readings = (): (readonly [labels: string, value: number])[] => {
      if (rest.length === 1) return [["", rest[0]()]];
      const [labels, read] = rest;
      return Array.from(read(), ([values, value]) => [labelText(labels, values), value] as const);
    };
    register(name, help, "gauge", {
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

  const { takeWorstLag, stop } = processMetrics(gauge);
  return {
    counter,
    gauge,
    histogram,
    render: () => Array.from(registered.values(), ({ render }) => render()).join(""),
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

type GaugeRest = [read: () => number] | [labels: readonly string[], read: () => GaugeReadings<string[]>];

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

/** Registers the metrics of the process. The lag of the event loop is the worst delay of a timer since the last scrape. */
function processMetrics(gauge: Metrics["gauge"]): Pick<Metrics, "takeWorstLag" | "stop"> {
  const startedAt = Date.now() - process.uptime() * 1000;
  gauge("process_resident_memory_bytes", "Resident memory.", () => process.memoryUsage.rss());
  gauge("process_start_time_seconds", "When the process started, since the epoch.", () => startedAt / 1000);
  gauge("process_uptime_seconds", "Time since the process started.", () => process.uptime());
  gauge("process_cpu_seconds_total", "CPU time used, by user and system together.", () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  });

  let worst = 0;
  let worstTaken = 0;
  let due = performance.now() + LAG_INTERVAL_MS;
  const timer = setInterval(() => {
    const now = performance.now();
    worst = Math.max(worst, now - due);
    worstTaken = Math.max(worstTaken, now - due);
    due = now + LAG_INTERVAL_MS;
  }, LAG_INTERVAL_MS);
  timer.unref();
  gauge("berth_event_loop_lag_seconds", "Worst delay of a timer since the last scrape.", () => {
    const seconds = Math.max(worst, performance.now() - due, 0) / 1000;
    worst = 0;
    return seconds;
  });
  return {
    takeWorstLag() {
      const ms = Math.max(worstTaken, performance.now() - due, 0);
      worstTaken = 0;
      return ms;
    },
    stop: () => clearInterval(timer),
  };
}
