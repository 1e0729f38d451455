// Writes an account's usage as CSV (RFC 4180), page by page, so that a year of many agents needs little memory.

import type { InValue } from "@libsql/client";
import type { Database } from "../../../src/kernel/database/database.ts";
import { type DayRange, dateOf } from "./usage-reports.ts";

const COLUMNS = [
  "date",
  "agent_id",
  "agent",
  "provider",
  "model",
  "own_key",
  "calls",
  "cached_calls",
  "estimated_calls",
  "input_tokens",
  "output_tokens",
  "cost_usd",
  "credits_usd",
];
const PAGE_ROWS = 2_000;
const KEY = ["day", "agent_id", "provider", "model", "own_key"] as const;
const PAGE_SQL = `SELECT ${KEY.join(", ")}, calls, cached, estimated, input_tokens, output_tokens, cost_micro_usd,
    credit_micro_usd
  FROM usage_days WHERE user_id = ? AND day BETWEEN ? AND ? AND (${KEY.join(", ")}) > (?, ?, ?, ?, ?)
  ORDER BY ${KEY.join(", ")} LIMIT ${PAGE_ROWS}`;

/** A text that a spreadsheet would take for a formula is given an apostrophe, which makes it text there. */
export function csvCell(value: string | number): string {
  if (typeof value === "number") return String(value);
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n']/.test(text) || text !== value ? `"${text.replaceAll('"', '""')}"` : text;
}

const line = (cells: readonly (string | number)[]) => `${cells.map(csvCell).join(",")}\r\n`;

interface Deps {
  database: Pick<Database, "readLong">;
  /** The names of the account's agents among these; none for one that was deleted. */
  namesOf(agentIds: readonly string[]): Promise<ReadonlyMap<string, string>>;
}

/** The rows of a range, oldest first, as a stream that reads the next page when the client has taken the last one. */
export function streamUsageCsv(userId: string, { from, to }: DayRange, { database, namesOf }: Deps): ReadableStream {
  const encoder = new TextEncoder();
  let last: InValue[] = [from - 1, "", "", "", 0];
  let hasBegun = false;
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      if (!hasBegun) controller.enqueue(encoder.encode(line(COLUMNS)));
      hasBegun = true;
      const { rows } = await database.readLong(PAGE_SQL, [userId, from, to, ...last]);
      const names = await namesOf([...new Set(rows.map(({ agent_id }) => String(agent_id)))]);
      const text = rows.map((row) =>
        line([
          dateOf(Number(row.day)),
          String(row.agent_id),
          names.get(String(row.agent_id)) ?? "",
          String(row.provider),
          String(row.model),
          Number(row.own_key),
          Number(row.calls),
          Number(row.cached),
          Number(row.estimated),
          Number(row.input_tokens),
          Number(row.output_tokens),
          Number(row.cost_micro_usd) / 1e6,
          Number(row.credit_micro_usd) / 1e6,
        ]),
      );
      if (text.length > 0) controller.enqueue(encoder.encode(text.join("")));
      const end = rows.at(-1);
      if (rows.length < PAGE_ROWS || !end) return controller.close();
      last = KEY.map((name) => end[name] ?? null);
    },
  });
}
