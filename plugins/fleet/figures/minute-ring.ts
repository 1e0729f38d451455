// Keeps a row of figures for each minute of the last day, in one typed array.
import { MINUTE } from "../../../src/kernel/util/time.ts";
import type { Fold } from "./figure-names.ts";

export const MINUTES_PER_DAY = 1_440;

export interface MinuteRing<Name extends string> {
  /** Adds the figures of a sample to those of the minute in which `at` (epoch ms) lies. */
  add(at: number, figures: Readonly<Record<Name, number>>): void;
  /** Stores a past minute, counted since 1970, unless it is known or older than a day. */
  fill(minute: number, figures: Readonly<Partial<Record<Name, number>>>): void;
  /** The figures of a minute, counted since 1970; undefined if none were stored. */
  minute(minute: number): Record<Name, number> | undefined;
  /**
   * The figures of the steps that end with the one in which `at` lies, oldest first; null where none was stored.
   * @param steps of `stepMinutes` minutes each, together at most a day
   */
  read(at: number, stepMinutes: number, steps: number): Record<Name, (number | null)[]>;
}

/** Takes 1,440 × 4 bytes for each figure, from the first `add` on. */
export function createMinuteRing<Name extends string>(folds: Readonly<Record<Name, Fold>>): MinuteRing<Name> {
  const names = Object.keys(folds) as Name[];
  let values: Float32Array | undefined;
  let newest = 0;

  const indexOf = (minute: number, column: number) => (minute % MINUTES_PER_DAY) * names.length + column;

  function clear(from: number, to: number): void {
    for (let minute = Math.max(from, to - MINUTES_PER_DAY + 1); minute <= to; minute++)
      values?.fill(Number.NaN, indexOf(minute, 0), indexOf(minute, names.length));
  }

  /** Makes this minute the newest. If the clock was set back, those after it are forgotten, and it has a row already. */
  function moveTo(minute: number): void {
    values ??= new Float32Array(MINUTES_PER_DAY * names.length).fill(Number.NaN);
    if (minute > newest) clear(newest + 1, minute);
    newest = minute;
  }

  const isKept = (minute: number) => minute <= newest && minute > newest - MINUTES_PER_DAY;

  function valueAt(minute: number, column: number): number | undefined {
    const value = isKept(minute) ? values?.[indexOf(minute, column)] : undefined;
    return value === undefined || Number.isNaN(value) ? undefined : value;
  }

  function fold(how: Fold, found: readonly number[]): number | null {
    const last = found.at(-1);
    if (last === undefined) return null;
    if (how === "last") return last;
    return how === "max" ? Math.max(...found) : found.reduce((sum, value) => sum + value, 0);
  }

  return {
    add(at, figures) {
      const minute = Math.floor(at / MINUTE);
      moveTo(minute);
      if (!values) return;
      for (const [column, name] of names.entries()) {
        const before = valueAt(minute, column);
        const both = before === undefined ? [figures[name]] : [before, figures[name]];
        values[indexOf(minute, column)] = fold(folds[name], both) ?? Number.NaN;
      }
    },

    fill(minute, figures) {
      if (minute > newest) moveTo(minute);
      if (!values || !isKept(minute) || names.some((_, column) => valueAt(minute, column) !== undefined)) return;
      for (const [column, name] of names.entries()) values[indexOf(minute, column)] = figures[name] ?? Number.NaN;
    },

    minute(minute) {
      const entries = names.map((name, column) => [name, valueAt(minute, column)] as const);
      if (entries.some(([, value]) => value === undefined)) return undefined;
      return Object.fromEntries(entries) as Record<Name, number>;
    },

    read(at, stepMinutes, steps) {
      const end = Math.floor(at / MINUTE / stepMinutes) * stepMinutes;
      const series = names.map((name, column) => {
        const points = Array.from({ length: steps }, (_, step) => {
          const first = end - (steps - 1 - step) * stepMinutes;
          const found: number[] = [];
          for (let minute = first; minute < first + stepMinutes; minute++) {
            const value = valueAt(minute, column);
            if (value !== undefined) found.push(value);
          }
          return fold(folds[name], found);
        });
        return [name, points] as const;
      });
      return Object.fromEntries(series) as Record<Name, (number | null)[]>;
    },
  };
}
