// Stores rate limit windows in the database, one row per rule, window length, key and start.

import type { Row } from "@libsql/client";
import type { Database, Statement } from "../../database/database.ts";
import { MINUTE } from "../../util/time.ts";
import type { KeyUsage, RateLimitRule } from "./fixed-windows.ts";

const CLEANUP_INTERVAL_MS = 10 * MINUTE;

export interface WindowStore {
  /** Reads all windows that are not over, for `restore`. */
  load(time: number): Promise<void>;
  /** Gives a new rule the counts of earlier runs. */
  restore(rule: RateLimitRule, time: number): void;
  /** The entries are on disk when this returns. */
  save(entries: Iterable<readonly [KeyUsage, RateLimitRule]>, time: number): Promise<void>;
}

export function createWindowStore(database: Pick<Database, "read" | "write">): WindowStore {
  let cleanedUpAt = Number.NEGATIVE_INFINITY;
  /** Loaded rows by rule, until the rule is defined. */
  let loadedRows = new Map<string, Row[]>();

  /** Deletes windows that are over, also those of rules and lengths that are not configured any more. */
  function cleanupStatements(time: number): Statement[] {
    if (time - cleanedUpAt < CLEANUP_INTERVAL_MS) return [];
    cleanedUpAt = time;
    const seconds = "CAST(substr(rule, instr(rule, '/') + 1) AS INTEGER)";
    return [{ sql: `DELETE FROM rate_limits WHERE window_start + ${seconds} * 1000 <= ?`, args: [time] }];
  }

  return {
    async load(time) {
      await database.write(cleanupStatements(time));
      const { rows } = await database.read(
        "SELECT rule, key, window_start, count FROM rate_limits ORDER BY window_start",
      );
      loadedRows = Map.groupBy(rows, ({ rule }) => String(rule).split("/")[0] ?? "");
    },

    restore(rule, time) {
      for (const row of loadedRows.get(rule.name) ?? []) {
        const seconds = Number(String(row.rule).split("/")[1]);
        rule.restore(String(row.key), seconds * 1000, Number(row.window_start), Number(row.count), time);
      }
      loadedRows.delete(rule.name);
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
