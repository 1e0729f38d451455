// Sets the next runs of schedules in recorded examples to those that follow from their cron text at the moment of the examples.
import type { RecordedExamples } from "../../src/kernel/http/openapi/examples.ts";
import { readCron, requireRuns } from "../../src/kernel/util/cron/cron.ts";
import { NOW } from "./normalise.ts";

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;

/** Changes the examples. A preview has its cron text in the body, a schedule beside its next run. */
export async function correctSchedules(recorded: RecordedExamples): Promise<void> {
  for (const example of Object.values(recorded).flat()) {
    await correct(example.response, isRecord(example.body) ? example.body : {});
  }
}

async function correct(value: unknown, around: Record<string, unknown>): Promise<void> {
  if (!isRecord(value)) return;
  const { cron, timezone, enabled } = { ...around, ...value };
  if (typeof cron === "string" && enabled !== false) {
    const runs = async (count: number) =>
      requireRuns(await readCron(cron, typeof timezone === "string" ? timezone : "UTC"), NOW, count).map((run) =>
        new Date(run).toISOString(),
      );
    if (typeof value.nextRunAt === "string") [value.nextRunAt] = await runs(1);
    if (Array.isArray(value.next)) value.next = await runs(value.next.length);
  }
  for (const inner of Object.values(value)) await correct(inner, { ...around, ...(Array.isArray(value) ? {} : value) });
}
