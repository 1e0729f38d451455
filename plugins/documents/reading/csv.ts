// Reads a table of CSV: each row as a line that names its columns, so that a row found alone still says what it holds.
import Papa from "papaparse";
import { MAX_TEXT } from "../document.ts";

const MAX_ROWS = 200_000;
const MAX_HEADING = 60;

export function readCsv(csv: string): { text: string; isCut: boolean } {
  const { data } = Papa.parse<string[]>(csv, { skipEmptyLines: "greedy", preview: MAX_ROWS + 1 });
  const [head = [], ...rows] = data;
  const names = head.map((name, index) => clean(name).slice(0, MAX_HEADING) || `Column ${index + 1}`);
  if (rows.length === 0) return { text: names.join("; "), isCut: false };
  const lines: string[] = [];
  let length = 0;
  for (const row of rows) {
    const cells = row.map((cell, index) => [names[index] ?? `Column ${index + 1}`, clean(cell)] as const);
    const line = cells.flatMap(([name, cell]) => (cell === "" ? [] : [`${name}: ${cell}`])).join("; ");
    length += line.length + 1;
    if (length > MAX_TEXT) return { text: lines.join("\n"), isCut: true };
    lines.push(line);
  }
  return { text: lines.join("\n"), isCut: data.length > MAX_ROWS };
}

const clean = (cell: string) => cell.replace(/\s+/g, " ").trim();
