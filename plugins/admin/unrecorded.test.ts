// Accounts and agents that no entry of the audit log can have recorded show that the log was emptied.
import { afterEach, beforeEach, expect, setSystemTime, test } from "bun:test";
import type { ChainReport } from "../../src/kernel/audit/verify.ts";
import { HOUR } from "../../src/kernel/util/time.ts";
import { createClient } from "../../tests/support/client.ts";
import { openServer, type TestServer } from "../../tests/support/server.ts";

let server: TestServer;
beforeEach(async () => {
  server = await openServer();
  // The migrations of a test's database may be younger than it.
  await run("UPDATE migrations SET applied_at = 1");
});
afterEach(async () => {
  setSystemTime();
  await server?.[Symbol.asyncDispose]();
});

const run = (sql: string) => server.kernel.database.write([{ sql, args: [] }]);
const verify = async () => (await server.app.commands["audit.verify"]?.({})) as ChainReport;
const later = (hours: number) => setSystemTime(Date.now() + hours * HOUR);

/** As somebody does who knows the database. */
async function emptyLog(): Promise<void> {
  await run("DROP TRIGGER audit_log_kept");
  for (const table of ["audit_log", "audit_seals", "audit_chain"]) await run(`DELETE FROM ${table}`);
  await run("DELETE FROM sqlite_sequence WHERE name = 'audit_seals'");
}

test("a service without accounts may have an empty log", async () => {
  expect(await verify()).toMatchObject({ ok: true, entries: 0 });
});

test("a log with the entry of its first account is whole, a year later, too", async () => {
  await createClient(server.web).join();
  later(1);
  expect(await verify()).toMatchObject({ ok: true, breaks: [] });
  later(24 * 365);
  expect(await verify()).toMatchObject({ ok: true, breaks: [] });
});

test("a log that was emptied to its last trace is not whole, also after the service has gone on", async () => {
  await createClient(server.web).join();
  later(1);
  await emptyLog();
  const problem = "the log has no entry of the time when 1 account was made that is here";
  expect(await verify()).toMatchObject({ ok: false, breaks: [{ seq: 1, problem }] });
  await createClient(server.web).join();
  await server.kernel.audit.seal();
  expect(await verify()).toMatchObject({ ok: false, breaks: [{ seq: 1, problem }] });
});

test("accounts of before the log recorded them say nothing", async () => {
  await createClient(server.web).join();
  await run("UPDATE migrations SET applied_at = 32503680000000 WHERE name = '0155_audit_chain'");
  later(1);
  await emptyLog();
  expect(await verify()).toMatchObject({ ok: true, entries: 0 });
});
