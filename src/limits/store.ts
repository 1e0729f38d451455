// Where rate limit windows outlive the process: one row per rule, window length, key and start.

import type { Database, Statement } from "../database.ts";
import type { Entry, Rule } from "./windows.ts";

const FORGET_EVERY_MS = 10 * 60_000;

export interface WindowStore {
  /** Gives the rules what earlier runs counted. */
  load(rules: readonly Rule[], time: number): Promise<void>;
  /** On disk when it returns. */
  save(entries: Iterable<readonly [Entry, Rule]>, time: number): Promise<void>;
}

export function createWindowStore(database: Pick<Database, "read" | "write">): WindowStore {
  let forgotAt = Number.NEGATIVE_INFINITY;
  let known: readonly Rule[] = [];

  /** Rows whose window is over, and those of windows that are no longer configured. */
  function forgetting(time: number): Statement[] {
    if (time - forgotAt < FORGET_EVERY_MS) return [];
    forgotAt = time;
    const windows = known.flatMap(({ name, rates }) =>
      rates.map(({ periodMs }) => ({ name: column(name, periodMs), periodMs })),
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
      known = rules;
      await database.write(forgetting(time));
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
            args: [column(name, periodMs), entry.key, entry.starts[index] ?? 0, entry.counts[index] ?? 0],
          });
        });
      }
      if (statements.length > 0) await database.write([...statements, ...forgetting(time)]);
    },
  };
}

const column = (name: string, periodMs: number) => `${name}/${periodMs / 1000}`;
