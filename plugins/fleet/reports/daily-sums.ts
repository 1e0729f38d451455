// Keeps the use of all accounts together for each day that is over, so that long reports are short queries.
import type { Kernel } from "../../../src/kernel/plugin.ts";
import { HOUR } from "../../../src/kernel/util/time.ts";
import { dayOf } from "./days.ts";

export interface DailySums {
  /** Sums the days of this range that are over and not summed yet. Callers at the same time share the work. */
  ensure(from: number, to: number): Promise<void>;
}

/** Rows of calls that end around midnight may be written after it. */
const SETTLED_AFTER_MS = HOUR;

const MISSING = `WITH RECURSIVE days (day) AS (SELECT ? UNION ALL SELECT day + 1 FROM days WHERE day < ?)
  SELECT day FROM days WHERE day NOT IN (SELECT day FROM summed_days)`;
const SUMS = `SELECT day, provider, model, own_key, sum(calls), sum(cached), sum(estimated), sum(input_tokens),
    sum(output_tokens), sum(cost_micro_usd), sum(credit_micro_usd)
  FROM usage_days WHERE day = ? GROUP BY provider, model, own_key`;
const INSERT = `INSERT OR REPLACE INTO usage_of_all SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4,
  value ->> 5, value ->> 6, value ->> 7, value ->> 8, value ->> 9, value ->> 10 FROM json_each(?)`;

export function createDailySums({ database }: Pick<Kernel, "database">, now = Date.now): DailySums {
  let working: Promise<void> = Promise.resolve();

  async function sum(from: number, to: number): Promise<void> {
    const { rows: missing } = await database.read(MISSING, [from, to]);
    // One day at a time: queries of other admins run between them.
    for (const { day } of missing) {
      const { rows } = await database.readLong(SUMS, [Number(day)]);
      const values = rows.map((row) => Array.from({ length: 11 }, (_, column) => row[column]));
      await database.write([
        { sql: INSERT, args: [JSON.stringify(values)] },
        { sql: "INSERT OR REPLACE INTO summed_days (day) VALUES (?)", args: [Number(day)] },
      ]);
    }
  }

  return {
    ensure(from, to) {
      const last = Math.min(to, dayOf(now() - SETTLED_AFTER_MS) - 1);
      if (from > last) return Promise.resolve();
      const next = working.catch(() => undefined).then(() => sum(from, last));
      working = next;
      return next;
    },
  };
}
