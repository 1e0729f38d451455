// Aligns the columns of a table for the terminal.

/** The last column is not padded. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]?.map((_, at) => Math.max(...rows.map((row) => Bun.stringWidth(row[at] ?? "")))) ?? [];
  const pad = (cell: string, at: number) => cell + " ".repeat(Math.max(0, (widths[at] ?? 0) - Bun.stringWidth(cell)));
  return rows.map((row) => `${row.map(pad).join("  ").trimEnd()}\n`).join("");
}
