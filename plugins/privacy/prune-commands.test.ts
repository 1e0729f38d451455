// Tests the commands behind `berth prune`: what they refuse, what they count, and what the audit log gets.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { eventually } from "../../tests/support/eventually.ts";
import { openServer, type TestServer } from "../../tests/support/server.ts";
import type { PruneReport, PruneSlice } from "./prune-commands.ts";

const OLD = Date.UTC(2020, 0, 1);

let server: TestServer;
beforeEach(async () => {
  server = await openServer();
});
afterEach(() => server[Symbol.asyncDispose]());

const run = (name: string, args: Record<string, string> = {}) => {
  const command = server.app.commands[name];
  if (!command) throw new Error(`There is no command ${name}.`);
  return command({ operator: "ada", ...args });
};
const report = (args: Record<string, string>) => run("prune.report", args) as Promise<PruneReport>;
const recorded = async (action: string) =>
  (
    await server.kernel.database.read(
      "SELECT actor_kind, actor_name, target_id, details FROM audit_log WHERE action = ?",
      [action],
    )
  ).rows.map(({ actor_kind, actor_name, target_id, details }) => ({
    ...{ actor_kind, actor_name, target_id },
    details: JSON.parse(String(details)) as object,
  }));
const jobsLeft = async () =>
  Number(
    (await server.kernel.database.read("SELECT count(*) AS n FROM jobs WHERE kind = 'privacy.pruned'")).rows[0]?.n,
  );
/** Deletes two events, and is then ended as by a kill: the entry of the end is not written. */
async function killedPrune(): Promise<void> {
  await addEvents(3);
  const { database } = server.kernel;
  const whole = database.write;
  Object.assign(database, {
    write: (statements: Parameters<typeof whole>[0]) =>
      statements.some(({ sql }) => /into "?audit_log/i.test(sql))
        ? Promise.reject(new Error("killed"))
        : whole(statements),
  });
  await expect(run("prune.slice", { kind: "events", before: String(OLD + 1) })).rejects.toThrow("killed");
  Object.assign(database, { write: whole });
}
const addEvents = async (count: number) => {
  for (let at = 0; at < count; at++)
    await server.kernel.database.write([
      {
        sql: "INSERT INTO events (id, type, data, created_at) VALUES (?, 'user.created', '{}', ?)",
        args: [Bun.randomUUIDv7(), OLD],
      },
    ]);
};

test("a time for kinds that have a fixed one is refused, with those that can be given one", async () => {
  const older = { olderThan: String(86_400_000) };
  await expect(report({ kinds: "audit", ...older })).rejects.toThrow("The time of audit is fixed");
  await expect(report({ kinds: "messages,audit", ...older })).rejects.toThrow("It can be given for ");
  expect((await report({ kinds: "messages", ...older })).kinds).toHaveLength(1);
  // Of all kinds, it concerns those that have a setting.
  expect((await report(older)).kinds.length).toBeGreaterThan(2);
});

test("a kind that is named twice is shown once", async () => {
  expect((await report({ kinds: "messages,messages, messages" })).kinds.map(({ kind }) => kind)).toEqual(["messages"]);
});

test("events are counted as they are deleted: the newest one stays", async () => {
  await addEvents(3);
  const count = async () => (await report({ kinds: "events" })).kinds[0];
  const before = String((await count())?.before);
  expect(await count()).toMatchObject({ rows: 2 });
  expect((await run("prune.slice", { kind: "events", before })) as PruneSlice).toMatchObject({
    deleted: 2,
    done: true,
  });
  expect(await count()).toMatchObject({ rows: 0 });
});

test("what was deleted is in the audit log with its kind, time and rows; nothing is if nothing was", async () => {
  await addEvents(3);
  const before = String(OLD + 1);
  await run("prune.slice", { kind: "events", before, sofar: "5" });
  await run("prune.slice", { kind: "events", before });
  const details = { before: new Date(OLD + 1).toISOString(), rows: 7, done: true };
  const by = { actor_kind: "command", actor_name: "ada", target_id: "events" };
  expect(await recorded("data.prune")).toEqual([{ ...by, details }]);
  expect(await jobsLeft()).toBe(0);
  await run("prune.compact");
  expect(await recorded("data.compact")).toMatchObject([{ ...by, target_id: "database" }]);
});

test("what a killed one had deleted is in the audit log as soon as the service runs", async () => {
  await killedPrune();
  expect(await recorded("data.prune")).toEqual([]);
  await server.kernel.database.write([{ sql: "UPDATE jobs SET run_at = 0 WHERE kind = 'privacy.pruned'", args: [] }]);
  await server.kernel.jobs.start();
  await eventually(async () => (await recorded("data.prune")).length === 1 && (await jobsLeft()) === 0);
  await server.kernel.jobs.stop();
  const details = { before: new Date(OLD + 1).toISOString(), rows: 2, done: false };
  expect(await recorded("data.prune")).toEqual([
    { actor_kind: "command", actor_name: "ada", target_id: "events", details },
  ]);
});

test("what a killed one had deleted is recorded by the next one of its kind, which counts its own", async () => {
  await killedPrune();
  await addEvents(5);
  await run("prune.slice", { kind: "events", before: String(OLD + 1) });
  expect((await recorded("data.prune")).map(({ details }) => details)).toMatchObject([
    { rows: 2, done: false },
    { rows: 5, done: true },
  ]);
  expect(await jobsLeft()).toBe(0);
});

test("the room that a deletion has left is told with it", async () => {
  const { freeBytes } = await report({ kinds: "events" });
  await server.kernel.database.write([
    {
      sql: `INSERT INTO events (id, type, data, created_at) SELECT 'e' || value, 'user.created', hex(randomblob(2000)), ?
        FROM json_each(?)`,
      args: [OLD, JSON.stringify(Array.from({ length: 300 }, (_, at) => at))],
    },
  ]);
  const slice = (await run("prune.slice", { kind: "events", before: String(OLD + 1) })) as PruneSlice;
  expect(slice).toMatchObject({ deleted: 299, done: true });
  expect(slice.freeBytes).toBeGreaterThan((freeBytes ?? 0) + 1_000_000);
  expect(await run("prune.compact")).toMatchObject({ compacted: true, freeBytes: 0 });
});
