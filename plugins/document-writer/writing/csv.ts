// Writes the table of a Markdown text as CSV (RFC 4180).
import { type Block, plainText, Unwritable } from "./blocks.ts";

/** A text without a table counts as CSV already. @throws Unwritable for several tables */
export function writeCsv(blocks: readonly Block[], source: string): string {
  const tables = blocks.filter((block) => block.kind === "table");
  if (tables.length > 1) throw new Unwritable("A CSV file has one table. Write each table as a file of its own.");
  const [table] = tables;
  const lines = table
    ? [table.header, ...table.rows].map((row) => row.map((cell) => quoted(plainText(cell))).join(","))
    : source.trim().split(/\r?\n/);
  const text = `${lines.join("\r\n")}\r\n`;
  // Without the mark, spreadsheets read other letters than those of ASCII wrongly.
  return /^[\0-\x7f]*$/.test(text) ? text : `\ufeff${text}`;
}

const quoted = (value: string) => (/[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value);
