// The range of days that the page shows: a preset or two dates, kept in the address. Days are those of UTC, as in the ledger.

import { useParameter } from "../../viewer/address.ts";
import { type Text, text } from "../../viewer/language.ts";

export const PRESETS = ["7d", "30d", "month", "3m", "12m", "own"] as const;
export type Preset = (typeof PRESETS)[number];

export const PRESET_LABELS: Readonly<Record<Preset, Text>> = {
  "7d": text("7 days"),
  "30d": text("30 days"),
  month: text("This month"),
  "3m": text("3 months"),
  "12m": text("12 months"),
  own: text("Other"),
};

export interface Range {
  /** Such as 2026-07-02; both are in the range. */
  from: string;
  to: string;
}

const DAY_MS = 86_400_000;
export const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10);

export function rangeOf(preset: Exclude<Preset, "own">, now = Date.now()): Range {
  const to = dayOf(now);
  const date = new Date(now);
  const monthsAgo = (count: number) => dayOf(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() - count, 1));
  if (preset === "7d") return { from: dayOf(now - 6 * DAY_MS), to };
  if (preset === "30d") return { from: dayOf(now - 29 * DAY_MS), to };
  return { from: monthsAgo({ month: 0, "3m": 2, "12m": 11 }[preset]), to };
}

const isDate = (value: string) => /^\d{4}-\d{2}-\d{2}$/.test(value);
const isPreset = (value: string): value is Preset => PRESETS.some((one) => one === value);

export function useRange() {
  const [wanted, setPreset] = useParameter("range");
  const [from, setFrom] = useParameter("from");
  const [to, setTo] = useParameter("to");
  const preset: Preset = isPreset(wanted) ? wanted : "30d";
  const fallback = rangeOf("30d");
  const range: Range =
    preset === "own"
      ? { from: isDate(from) ? from : fallback.from, to: isDate(to) ? to : fallback.to }
      : rangeOf(preset);
  return { preset, range, setPreset, setFrom, setTo };
}

/** How bars are grouped, so that they stay wide enough to be seen. */
export type Grain = "day" | "week" | "month";
export const grainOf = (days: number): Grain => (days <= 62 ? "day" : days <= 190 ? "week" : "month");

/** The first day of the bar that a day belongs to. */
export function barOf(date: string, grain: Grain): string {
  if (grain === "day") return date;
  if (grain === "month") return `${date.slice(0, 7)}-01`;
  const time = Date.parse(date);
  const weekday = (new Date(time).getUTCDay() + 6) % 7;
  return dayOf(time - weekday * DAY_MS);
}
