// Lays out Markdown tables in columns of text, for platforms without tables.

const RULE = /^:?-+:?$/;
/** Wider columns are not aligned, because no phone shows them side by side. */
const MAX_COLUMN_WIDTH = 48;

const cells = (line: string) =>
  line
    .trim()
    .replace(/^\||(?<!\\)\|$/g, "")
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim().replaceAll("\\|", "|"));

/** Whether a line is the rule under the head of a table. */
export const isTableRule = (line: string) => line.includes("|") && cells(line).every((cell) => RULE.test(cell));

/** The lines of a table, without its rule, as text in columns. `toPlain` removes the marks from a cell. */
export function layOutTable(lines: string[], toPlain: (cell: string) => string): string {
  const rows = lines.map((line) => cells(line).map(toPlain));
  const widths: number[] = [];
  for (const row of rows)
    for (const [column, cell] of row.entries()) widths[column] = Math.max(widths[column] ?? 0, Bun.stringWidth(cell));
  const pad = (cell: string, width: number) =>
    width > MAX_COLUMN_WIDTH ? cell : cell + " ".repeat(width - Bun.stringWidth(cell));
  return rows
    .map((row) =>
      row
        .map((cell, column) => pad(cell, widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}
