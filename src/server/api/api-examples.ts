// Reads the examples of the API document: requests that `npm run examples` has sent to the running program, and their answers.

import type { RecordedExample, RecordedExamples } from "../../kernel/http/openapi/examples.ts";
import backendFile from "./backend.examples.jsonl" with { type: "file" };
import webFile from "./web.examples.jsonl" with { type: "file" };

/** A line of a file: the examples of one operation. A line for each keeps the changes of two branches apart. */
interface Line {
  operation: string;
  examples: RecordedExample[];
}

const FILES = { web: webFile, backend: backendFile };

/** Reads a surface's examples. The text is not kept. */
export async function readExamples(surface: "web" | "backend"): Promise<RecordedExamples> {
  const found: RecordedExamples = {};
  for (const line of (await Bun.file(FILES[surface]).text()).split("\n")) {
    if (line === "") continue;
    const { operation, examples } = JSON.parse(line) as Line;
    found[operation] = examples;
  }
  return found;
}

/** The text of a surface's file, in the order of the operations' names. */
export const formatExamples = (recorded: RecordedExamples): string =>
  Object.entries(recorded)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([operation, examples]) => `${JSON.stringify({ operation, examples } satisfies Line)}\n`)
    .join("");
