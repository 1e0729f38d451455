// Reads the examples of the API document: requests that `npm run examples` has sent to the running program, and their answers.

import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import type { RecordedExample, RecordedExamples } from "../../kernel/http/openapi/examples.ts";
import backendFile from "./backend.examples.jsonl" with { type: "file" };
import webFile from "./web.examples.jsonl" with { type: "file" };

/** A line of a file: the examples of one operation. A line for each keeps the changes of two branches apart. */
interface Line {
  operation: string;
  examples: RecordedExample[];
}

const FILES = { web: webFile, backend: backendFile };

/** Reads a surface's examples, in steps, since all at once would block the event loop. The text is not kept. */
export async function readExamples(surface: "web" | "backend"): Promise<RecordedExamples> {
  const found: RecordedExamples = {};
  const lines = (await Bun.file(FILES[surface]).text()).split("\n");
  for (const [index, line] of lines.entries()) {
    if (index % LINES_AT_ONCE === 0) await yieldToEventLoop();
    if (line === "") continue;
    const { operation, examples } = JSON.parse(line) as Line;
    found[operation] = examples;
  }
  return found;
}

const LINES_AT_ONCE = 50;

/** The text of a surface's file, in the order of the operations' names. */
export const formatExamples = (recorded: RecordedExamples): string =>
  Object.entries(recorded)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([operation, examples]) => `${JSON.stringify({ operation, examples } satisfies Line)}\n`)
    .join("");
