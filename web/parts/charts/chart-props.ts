// What a chart shows.

export interface Series {
  label: string;
  /** One value for each time; null where there is none. */
  values: readonly (number | null)[];
  /** `step` is the distance between two values of an axis. */
  format?: (value: number, step?: number) => string;
}

export interface ChartProps {
  /** What it shows, for those who don't see it. */
  label: string;
  /** Epoch milliseconds, rising. */
  times: readonly number[];
  series: readonly Series[];
  kind?: "line" | "bars";
  /** The times are days in UTC: they are shown as dates, the same in each zone. */
  isByDay?: boolean;
  height?: number;
}

/** How a day in UTC is written. */
export const DAY = { dateStyle: "medium", timeZone: "UTC" } as const;
