// The recorded examples of the API documents are possible: ids stand in the order of the path, and times are those of their cause.
import { describe, expect, test } from "bun:test";
import { readCron, requireRuns } from "../../kernel/util/cron/cron.ts";
import { readExamples } from "./api-examples.ts";

/** The moment at which every example takes place. */
const NOW = Date.parse("2026-01-15T09:30:00.000Z");

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;

/** Every object of the value, with the fields of those around it. */
function objectsIn(value: unknown, around: Record<string, unknown> = {}): Record<string, unknown>[] {
  if (!isRecord(value)) return [];
  const whole = { ...around, ...value };
  return [
    ...(Array.isArray(value) ? [] : [whole]),
    ...Object.values(value).flatMap((inner) => objectsIn(inner, whole)),
  ];
}

describe.each(["web", "backend"] as const)("on the %s", (side) => {
  test("ids are numbered in the order in which a path has them, so that an agent has the same one in all", async () => {
    const numbered = Object.entries(await readExamples(side)).flatMap(([operation, examples]) =>
      examples.map(({ parameters = {} }) => {
        const names = [...operation.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name);
        const ids = names.map((name) => String(parameters[name])).filter((id) => id.startsWith("01990000-"));
        return { operation, ids };
      }),
    );
    expect(numbered.filter(({ ids }) => ids.length > 1).length).toBeGreaterThan(5);
    expect(numbered.filter(({ ids }) => ids.join() !== ids.toSorted().join())).toEqual([]);
  });

  test("the next runs of a schedule are those that its cron text says", async () => {
    let count = 0;
    for (const [operation, examples] of Object.entries(await readExamples(side))) {
      for (const { body, response } of examples) {
        const asked = isRecord(body) ? body : {};
        for (const { cron, timezone, nextRunAt, next, enabled } of objectsIn(response, asked)) {
          if (typeof cron !== "string" || enabled === false) continue;
          const shown = typeof nextRunAt === "string" ? [nextRunAt] : Array.isArray(next) ? next : [];
          if (shown.length === 0) continue;
          const runs = requireRuns(
            await readCron(cron, typeof timezone === "string" ? timezone : "UTC"),
            NOW,
            shown.length,
          );
          expect({ operation, shown }).toEqual({ operation, shown: runs.map((run) => new Date(run).toISOString()) });
          count += shown.length;
        }
      }
    }
    expect(count).toBeGreaterThan(0);
  });

  test("budgets and figures begin with a day or an hour", async () => {
    const texts = JSON.stringify(await readExamples(side));
    const resets = [...texts.matchAll(/"resetsAt":"([^"]+)"/g)].map(([, time = ""]) => time);
    const points = [...texts.matchAll(/"at":"([^"]+)","received"/g)].map(([, time = ""]) => time);
    expect(points.filter((time) => !time.endsWith(":00:00.000Z"))).toEqual([]);
    expect(resets.filter((time) => !time.endsWith("T00:00:00.000Z"))).toEqual([]);
  });
});
