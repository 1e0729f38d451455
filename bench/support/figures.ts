// The results of benchmarks: figures with baselines and goals, their table, and statistics.

/** The middle half of what the rounds gave. */
export interface Spread {
  /** First quartile. */
  low: number;
  /** Third quartile. */
  high: number;
  rounds: number;
}

export interface Figure {
  what: string;
  /** Figure divided by baseline of the same run: the number that a busy machine distorts least. */
  ratio?: number;
  /** Of the ratios of the rounds. */
  spread?: Spread;
  figure: string;
  baseline: string;
  goal: string;
  /** Undefined without a goal. */
  met?: boolean;
}

/** A benchmark: measures and returns figures. Throws if the measured service behaved incorrectly. */
export interface Benchmark {
  name: string;
  summary: string;
  /** Runs only if it is named. */
  isLong?: true;
  run(options: RunOptions): Promise<Figure[]>;
}

export interface RunOptions {
  /** How often each side is measured. Less than 15 gives figures that say little. */
  rounds: number;
}

const HEAD = ["ratio", "middle half", "what", "figure", "baseline", "goal", ""];

/** A text table with the ratios first and `met` as a word, so that it can be searched for. */
export function table(figures: readonly Figure[]): string {
  const rows = figures.map(({ what, ratio, spread, figure, baseline, goal, met }) => [
    ratio === undefined ? "" : `${ratio.toFixed(2)}×`,
    spread === undefined ? "" : `${spread.low.toFixed(2)} to ${spread.high.toFixed(2)} of ${spread.rounds}`,
    what,
    figure,
    baseline,
    goal,
    met === undefined ? "" : met ? "met" : "MISSED",
  ]);
  const widths = HEAD.map((_, column) => Math.max(...[HEAD, ...rows].map((row) => (row[column] ?? "").length)));
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd();
  return [line(HEAD), line(widths.map((width) => "─".repeat(width))), ...rows.map(line)].join("\n");
}

/** The middle value, or the mean of the two middle values. Throws for an empty list. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const [low, high] = [sorted[Math.ceil(sorted.length / 2) - 1], sorted[Math.floor(sorted.length / 2)]];
  if (low === undefined || high === undefined) throw new Error("There is no median of an empty list.");
  return (low + high) / 2;
}

/** The value that this share (0 to 1) of the values does not exceed; 0 for an empty list. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

export const ms = (value: number) => (value < 10 ? `${value.toFixed(3)} ms` : `${value.toFixed(1)} ms`);
export const perSecond = (value: number) => `${Math.round(value).toLocaleString("en")}/s`;
export const mib = (bytes: number) => `${(bytes / 1024 / 1024).toFixed(1)} MiB`;
export const kib = (bytes: number) => `${(bytes / 1024).toFixed(1)} KiB`;

/** The quartiles of values, one of each round. */
export const spreadOf = (values: readonly number[]): Spread => ({
  low: quantile(values, 0.25),
  high: quantile(values, 0.75),
  rounds: values.length,
});

/**
 * The median of the rounds' ratios, and their middle half. It is not quite the quotient of the medians, since a machine that
 * drifts slows down both sides of a round.
 * @param values one of each round
 * @param baseline of the same rounds, in the same order
 */
export function ratioOf(values: readonly number[], baseline: readonly number[]): { ratio: number; spread: Spread } {
  const ratios = values.map((value, round) => value / (baseline[round] ?? Number.NaN));
  return { ratio: median(ratios), spread: spreadOf(ratios) };
}

/** A figure without a goal, that explains others: one value in ms of each round of the service, and of its baseline. */
export const timeFigure = (what: string, values: readonly number[], baseline: readonly number[], of = ""): Figure => ({
  what,
  ...ratioOf(values, baseline),
  figure: ms(median(values)),
  baseline: `${ms(median(baseline))} ${of}`.trimEnd(),
  goal: "",
});
