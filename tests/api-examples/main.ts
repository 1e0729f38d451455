// Records the examples of the API documents (`npm run examples`): sends the requests of the scenarios to the program, and writes
// what is missing or no longer true to src/server/api/*.examples.jsonl. With --all, it writes every example anew.
import { join } from "node:path";
import type { RecordedExamples } from "../../src/kernel/http/openapi/examples.ts";
import { formatExamples, readExamples } from "../../src/server/api/api-examples.ts";
import { differences } from "./check.ts";
import { runTour } from "./run-tour.ts";

const isAll = process.argv.includes("--all");
const { documents, recorded, refused, broken } = await runTour();
for (const side of ["web", "backend"] as const) {
  const kept: RecordedExamples = isAll ? {} : await readExamples(side);
  const outdated = new Set(differences(side, documents[side], kept, recorded[side]).map(({ operation }) => operation));
  for (const [operation, examples] of Object.entries(recorded[side])) {
    if (outdated.has(operation) || !kept[operation]) kept[operation] = examples;
  }
  for (const operation of outdated) if (!recorded[side][operation]) delete kept[operation];
  await Bun.write(join(import.meta.dir, `../../src/server/api/${side}.examples.jsonl`), formatExamples(kept));
  const left = differences(side, documents[side], kept, recorded[side]);
  console.log(`${side}: ${Object.keys(kept).length} operations with examples, ${outdated.size} written`);
  for (const { message } of left) console.log(`  ${message}`);
}
for (const line of broken) console.log(`broken off: ${line}`);
if (process.argv.includes("--verbose")) for (const line of refused) console.log(line);
process.exitCode = broken.length > 0 ? 1 : 0;
