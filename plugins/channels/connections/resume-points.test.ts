// Tests when resume points are written: soon at first, and at intervals while a connection is busy.
import { expect, test } from "bun:test";
import { eventually } from "../../../tests/support/eventually.ts";
import { createResumePoints, type ResumableConnection } from "./resume-points.ts";

function createFixture() {
  const written: Record<string, string>[] = [];
  const connections = {
    saveResumePoints: async (resumes: ReadonlyMap<string, string>) => void written.push(Object.fromEntries(resumes)),
  };
  const log = { error: () => undefined };
  const resumes = createResumePoints({ log, connections });
  const openConnection = (callbackId: string, resume?: string): ResumableConnection => ({
    binding: resume === undefined ? {} : { resume },
    connection: { callbackId },
  });
  return { resumes, written, openConnection };
}

test("the first is written soon, together with others of that moment", async () => {
  const { resumes, written, openConnection } = createFixture();
  resumes.save(openConnection("a"), "1");
  resumes.save(openConnection("b"), "1");
  await eventually(() => written.length === 1, { timeoutMs: 1_000 });
  expect(written).toEqual([{ a: "1", b: "1" }]);
});

test("the next is written soon after an idle time, else the last one per interval and at the stop", async () => {
  const { resumes, written, openConnection } = createFixture();
  const busy = openConnection("a", "0");
  resumes.save(busy, "1");
  await eventually(() => written.length === 1, { timeoutMs: 1_000 });
  for (const at of ["2", "3", "4"]) resumes.save(busy, at);
  resumes.save(openConnection("b"), "1");
  await eventually(() => written.length === 2, { timeoutMs: 1_000 });
  expect(written[1]).toEqual({ a: "4", b: "1" });
  resumes.save(busy, "4");
  resumes.save(busy, "5");
  await resumes.stop();
  expect(written.slice(2)).toEqual([{ a: "5" }]);
});
