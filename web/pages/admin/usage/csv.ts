// Saves a usage report as a table for spreadsheets.

import type { Usage } from "../api-types.ts";

/** A text of a user that begins like a formula must not become one in a spreadsheet. */
export function toCell(value: string | number): string {
  if (typeof value === "number") return String(value);
  const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return `"${safe.replaceAll('"', '""')}"`;
}

export function saveAsCsv(name: string, { from, to, rows }: Usage): void {
  const head = ["key", "name", "calls", "input_tokens", "output_tokens", "cost_usd", "own_key_usd"];
  const lines = rows.map((row) =>
    [row.key, row.name ?? "", row.calls, row.inputTokens, row.outputTokens, row.costUsd, row.ownKeyUsd]
      .map(toCell)
      .join(","),
  );
  const url = URL.createObjectURL(new Blob([`${[head.join(","), ...lines].join("\r\n")}\r\n`], { type: "text/csv" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = `${name}-${from}-${to}.csv`;
  link.click();
  URL.revokeObjectURL(url);
}
