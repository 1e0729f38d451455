// Where rate limit windows outlive the process: one row per rule, window length, key and start.

import type { Database, Statement } from "../../database/database.ts";
import type { KeyUsage, Rule } from "./fixed-windows.ts";

const CLEANUP_INTERVAL_MS = 10 * 60_000;

export interface WindowStore {
  /** Gives the rules what earlier runs counted. */
  load(rules: readonly Rule[], time: number): Promise<void>;
  /** On disk when it returns. */
  save(entries: Iterable<readonly [KeyUsage, Rule]>, time: number): Promise<void>;
}

export function createWindowStore(database: Pick<Database, "read" | "write">): WindowStore {
  let cleanedUpAt = Number.NEGATIVE_INFINITY;
  let knownRules: readonly Rule[] = [];

  /** Rows whose window is over, and those of windows that are no longer configured. */
  function cleanupStatements(time: number): Statement[] {
    if (time - cleanedUpAt < CLEANUP_INTERVAL_MS) return [];
    cleanedUpAt = time;
    const windows = knownRules.flatMap(({ name, rates }) =>
      rates.map(({ periodMs }) => ({ name: windowName(name, periodMs), periodMs })),
    );
    const names = windows.map(({ name }) => name);
    return [
      ...windows.map(({ name, periodMs }) => ({
        sql: "DELETE FROM rate_limits WHERE rule = ? AND window_start <= ?",
        args: [name, time - periodMs],
      })),
      { sql: `DELETE FROM rate_limits WHERE rule NOT IN (${names.map(() => "?").join(", ")})`, args: names },
    ];
  }

  return {
    async load(rules, time) {
      knownRules = rules;
      await database.write(cleanupStatements(time));
      const { rows } = await database.read(
        "SELECT rule, key, window_start, count FROM rate_limits ORDER BY window_start",
      );
      for (const row of rows) {
        const [name, seconds] = String(row.rule).split("/");
        const rule = rules.find((candidate) => candidate.name === name);
        rule?.restore(String(row.key), Number(seconds) * 1000, Number(row.window_start), Number(row.count), time);
      }
    },

    async save(entries, time) {
      const statements: Statement[] = [];
      for (const [entry, { name, rates }] of entries) {
        rates.forEach(({ periodMs }, index) => {
          statements.push({
            sql: `INSERT INTO rate_limits (rule, key, window_start, count) VALUES (?, ?, ?, ?)
                  ON CONFLICT (rule, key, window_start) DO UPDATE SET count = excluded.count`,
            args: [windowName(name, periodMs), entry.key, entry.starts[index] ?? 0, entry.counts[index] ?? 0],
          });
        });
      }
      if (statements.length > 0) await database.write([...statements, ...cleanupStatements(time)]);
    },
  };
}

const windowName = (name: string, periodMs: number) => `${name}/${periodMs / 1000}`;
