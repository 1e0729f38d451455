// The audit log: entries can't be changed, and are deleted after two years only.
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Statement } from "../../src/kernel/database/database.ts";
import { DAY } from "../../src/kernel/util/time.ts";
import { openServer, type TestServer } from "../../tests/support/server.ts";
import { type AuditLog, createAuditLog } from "./audit-log.ts";

let server: TestServer;
let audit: AuditLog;
beforeAll(async () => {
  server = await openServer();
  audit = createAuditLog(server.kernel);
});
afterAll(() => server?.[Symbol.asyncDispose]());

const actor = { kind: "command" as const, id: null, name: "root", address: null, requestId: null };
const entry = (action: string) =>
  audit.recorderFor(actor)({ action, user: { id: "u1", email: "ada@example.com" }, details: {} });
const entryAt = (action: string, at: number): Statement => ({
  sql: `INSERT INTO audit_log (id, at, actor_kind, actor_name, action, target_kind, target_id, target_name, details)
    VALUES (?, ?, 'command', 'root', ?, 'user', 'u1', 'ada@example.com', '{}')`,
  args: [`0-${action}`, at, action],
});
const actions = async () => (await audit.list({ limit: 10, offset: 0 })).entries.map(({ action }) => action);

test("triggers refuse to change entries, or to delete them early", async () => {
  await server.kernel.database.write([entry("user.enable")]);
  for (const sql of ["UPDATE audit_log SET actor_name = 'nobody'", "DELETE FROM audit_log"]) {
    await expect(server.kernel.database.write([{ sql, args: [] }])).rejects.toThrow(/audit log/);
  }
  expect(await actions()).toEqual(["user.enable"]);
});

test("without a newer entry, prune leaves old ones, since their two years end with it", async () => {
  const alone = await openServer();
  try {
    const { write, read } = alone.kernel.database;
    await write([entryAt("user.old", Date.now() - 800 * DAY), entryAt("user.older", Date.now() - 801 * DAY)]);
    await createAuditLog(alone.kernel).prune();
    expect((await read("SELECT count(*) AS n FROM audit_log")).rows[0]?.n).toBe(2);
  } finally {
    await alone[Symbol.asyncDispose]();
  }
});

test("prune deletes entries older than two years", async () => {
  const { write } = server.kernel.database;
  await write([entryAt("user.old", Date.now() - 732 * DAY), entryAt("user.younger", Date.now() - 729 * DAY)]);
  await audit.prune();
  expect(await actions()).toEqual(["user.enable", "user.younger"]);
});
