// Tests the commands behind `berth prune`: what they refuse, what they count, and what the audit log gets.
import { afterEach, beforeEach, expect, test } from "bun:test";
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
  expect((await run("prune.slice", { kind: "events", before })) as PruneSlice).toEqual({ deleted: 2, done: true });
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
  await run("prune.compact");
  expect(await recorded("data.compact")).toMatchObject([{ ...by, target_id: "database" }]);
});
