// Defines the registry of metrics, for those who register and read them.

export type LabelValues<Names extends readonly string[]> = Readonly<Record<Names[number], string>>;

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

/** The value of each family, or those of its series. */
export type Measurements<Name extends string> = Readonly<
  Record<Name, number | readonly (readonly [Readonly<Record<string, string>>, number])[]>
>;

export interface Metrics {
  counter(name: string, help: string): Counter;
  counter<const Names extends readonly string[]>(name: string, help: string, labels: Names): Labelled<Counter, Names>;
  /** `read` is called at each scrape; the metric has no sample while it returns undefined. */
  gauge(name: string, help: string, read: () => number | undefined): void;
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
  /**
   * Gauges that one function measures before each scrape, such as counts of the database. They have no sample before the first
   * scrape, and while they can't be measured. Those whose names end in `_total` are counters. The families by name: the help, and the names of the labels if there are any.
   */
  measured<Name extends string>(
    families: Readonly<Record<Name, readonly [help: string, ...labels: string[]]>>,
    measure: () => Promise<Measurements<NoInfer<Name>>>,
  ): void;
  /** Measures what is measured, then renders. Scrapes at the same time share this. */
  scrape(): Promise<string>;
  /** Renders all metrics in the text format 0.0.4 (`text/plain; version=0.0.4`), with what the last scrape has measured. */
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
