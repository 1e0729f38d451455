// The results of benchmarks: figures with baselines and goals, their table, and statistics.

export interface Figure {
  what: string;
  /** Figure divided by baseline of the same run: the number that a busy machine distorts least. */
  ratio?: number;
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
  run(): Promise<Figure[]>;
}

const HEAD = ["ratio", "what", "figure", "baseline", "goal", ""];

/** A text table with the ratios first and `met` as a word, so that it can be searched for. */
export function table(figures: readonly Figure[]): string {
  const rows = figures.map(({ what, ratio, figure, baseline, goal, met }) => [
    ratio === undefined ? "" : `${ratio.toFixed(2)}×`,
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

/** Processor time per response of the service and its baseline. It has no goal, since it only explains the rates. */
export const cpuFigure = (what: string, service: number, baseline: number): Figure => ({
  what,
  ratio: service / baseline,
  figure: ms(service),
  baseline: ms(baseline),
  goal: "",
});
