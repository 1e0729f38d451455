// Outages of places outside of the service: how long, why, and what metrics and lists say of them.
import { expect, test } from "bun:test";
import { createLog } from "./log.ts";
import { createMetrics } from "./metrics.ts";
import { createOutages } from "./outages.ts";

const NOON = Date.parse("2026-11-26T12:00:00.000Z");

function open() {
  const clock = { at: NOON };
  const metrics = createMetrics();
  const log = createLog({ level: "silent", format: "json", write: () => undefined });
  const outages = createOutages({ metrics, log, secrets: ["canary-secret"], now: () => clock.at });
  const sample = (of: string) =>
    new RegExp(`^berth_outage_seconds\\{of="${of}"\\} (\\S+)$`, "m").exec(metrics.render())?.[1];
  return { clock, outages, sample };
}

test("an outage lasts from its first failure to the next success, with the newest reason", () => {
  const { clock, outages, sample } = open();
  const { failed, worked } = outages.watch("mast");
  expect([[...outages.current.values()], sample("mast")]).toEqual([[], "0"]);
  expect(failed(new Error("broken"))).toBe(true);
  clock.at += 90_000;
  expect(failed(new Error("still\nbroken"))).toBe(false);
  expect([...outages.current.values()]).toEqual([{ of: "mast", since: NOON, reason: "still broken" }]);
  expect(sample("mast")).toBe("90");
  expect([worked(), worked()]).toEqual([true, false]);
  expect([[...outages.current.values()], sample("mast")]).toEqual([[], "0"]);
});

test("what is not watched has no sample", () => {
  expect(open().sample("mast")).toBeUndefined();
});

test("a reason is that of the innermost cause, with its code and without secrets", () => {
  const { outages } = open();
  const { failed } = outages.watch("mast");
  const cause = Object.assign(new Error("no answer of https://u:p@host/?key=canary with canary-secret"), {
    code: "ECONNREFUSED",
  });
  failed(new Error("Try again later.", { cause }));
  const [outage] = [...outages.current.values()];
  expect(outage?.reason).toMatch(/^no answer of .* \(ECONNREFUSED\)$/);
  expect(outage?.reason).not.toContain("canary");
});
