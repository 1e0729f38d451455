// The audit log: entries can't be changed, are deleted after two years only, and are chained by hash, so tampering shows.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { fileDatabase, silent, type TestDatabase } from "../../../tests/support/database.ts";
import { UNMARKED } from "../cells/marks.ts";
import { guard, type Statement } from "../database/database.ts";
import type { RequestContext } from "../http/request-context.ts";
import { createKeyRotation } from "../security/key-rotation.ts";
import { createVault } from "../security/vault.ts";
import { DAY } from "../util/time.ts";
import { AUDIT_KEPT_MS, type Audit, createAudit } from "./audit.ts";
import { runForRequest } from "./current-actor.ts";

interface World extends TestDatabase {
  audit: Audit;
  /** The audit log as the next process opens it. */
  reopen(): Audit;
  run(sql: string): Promise<unknown>;
  numbers(): Promise<number[]>;
}

async function world(): Promise<World> {
  const storage = await fileDatabase();
  const { database } = storage;
  const vault = createVault({ key: "the key of these tests" });
  const open = () => {
    const keyRotation = createKeyRotation({ database, vault, log: silent });
    return createAudit({ database, vault, keyRotation, log: silent, marks: UNMARKED, isAlone: true });
  };
  return {
    ...storage,
    audit: open(),
    reopen: open,
    run: (sql) => database.write([{ sql, args: [] }]),
    numbers: async () =>
      (await database.read("SELECT seq FROM audit_seals ORDER BY seq")).rows.map(({ seq }) => Number(seq)),
  };
}

const target = { kind: "user", id: "u1", name: "ada@example.com" };
const entryAt = (action: string, at: number): Statement => ({
  sql: `INSERT INTO audit_log (id, at, actor_kind, actor_name, action, target_kind, target_id, target_name, details)
    VALUES (?, ?, 'command', 'root', ?, 'user', 'u1', 'ada@example.com', '{}')`,
  args: [`0-${action}`, at, action],
});

describe("entries", () => {
  let here: World;
  beforeAll(async () => {
    here = await world();
  });
  afterAll(() => here.remove());

  test("triggers refuse to change them, or to delete them early", async () => {
    await here.database.write([here.audit.record({ action: "user.enable", target })]);
    for (const sql of ["UPDATE audit_log SET actor_name = 'nobody'", "DELETE FROM audit_log"])
      await expect(here.run(sql)).rejects.toThrow(/audit log/);
  });

  test("name the account of the request, the key, the command, or else the service", async () => {
    const context = (actor?: RequestContext["actor"]): RequestContext => ({
      ...{ id: "r1", address: "192.0.2.7", socketAddress: "", cookies: [] },
      ...(actor && { actor }),
    });
    const { audit, database } = here;
    const write = (action: string) => database.write([audit.record({ action, target })]);
    const account = { kind: "user", id: "u2", name: "bob@example.com" } as const;
    let later = Promise.resolve<unknown>(undefined);
    const ended = Promise.withResolvers<void>();
    const request = context(account);
    await runForRequest(request, async () => {
      await write("by.account");
      later = ended.promise.then(() => write("by.work-after-the-response"));
    });
    request.hasEnded = true;
    ended.resolve();
    await later;
    await runForRequest(context({ kind: "key", id: "k1", name: "bob@example.com" }), () => write("by.key"));
    await runForRequest(context(), () => write("by.visitor"));
    await audit.as({ kind: "command", id: null, name: "root", address: null, requestId: null }, () =>
      write("by.command"),
    );
    const { rows } = await database.read(
      "SELECT action, actor_kind, actor_id, actor_name, address FROM audit_log WHERE action LIKE 'by.%' ORDER BY id",
    );
    expect(rows.map((row) => Object.values(row))).toEqual([
      ["by.account", "user", "u2", "bob@example.com", "192.0.2.7"],
      ["by.work-after-the-response", "service", null, "", null],
      ["by.key", "key", "k1", "bob@example.com", "192.0.2.7"],
      ["by.visitor", "visitor", null, "", "192.0.2.7"],
      ["by.command", "command", null, "root", null],
    ]);
  });

  test("a batch that fails leaves no entry, and takes no number", async () => {
    const { audit, database } = here;
    const before = await here.numbers();
    const failing = [
      audit.record({ action: "user.disable", target }),
      { sql: "UPDATE users SET name = '' WHERE id = 'missing'", args: [] },
      guard("user"),
    ];
    await expect(database.write(failing)).rejects.toThrow();
    await database.write([audit.record({ action: "user.enable", target })]);
    expect(await here.numbers()).toEqual([...before, (before.at(-1) ?? 0) + 1]);
  });
});

describe("the chain", () => {
  let here: World;
  const problems = async (noted?: Parameters<Audit["verify"]>[0]) =>
    (await here.audit.verify(noted)).breaks.map(({ seq, problem }) => `${seq}: ${problem}`);
  /** Changes the database as somebody with a copy of sqlite3 would, and changes it back. */
  async function tampered(sql: string, back: string): Promise<string[]> {
    const triggers = (
      await here.database.read("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = 'audit_log'")
    ).rows;
    for (const { name } of triggers) await here.run(`DROP TRIGGER ${name}`);
    await here.run(sql);
    const found = await problems();
    await here.run(back);
    for (const { sql } of triggers) await here.run(String(sql));
    return found;
  }
  beforeAll(async () => {
    here = await world();
    for (let at = 1; at <= 6; at++)
      await here.database.write([here.audit.record({ action: "user.update", target, details: { at } })]);
    await here.run("CREATE TABLE kept AS SELECT * FROM audit_log");
    await here.run("CREATE TABLE kept_seals AS SELECT * FROM audit_seals");
    await here.audit.seal();
    await here.run("DROP TABLE kept_seals");
    await here.run("CREATE TABLE kept_seals AS SELECT * FROM audit_seals");
  });
  afterAll(() => here.remove());

  test("is whole as it was written, also after a start, and with entries that are not sealed yet", async () => {
    const report = await here.audit.verify();
    expect(report).toMatchObject({ ok: true, entries: 6, pruned: 0, breaks: [], head: { seq: 6 } });
    expect(await problems(report.head)).toEqual([]);
    await here.database.write([here.audit.record({ action: "user.enable", target })]);
    expect(await problems()).toEqual([]);
    await here.audit.seal();
    expect((await here.audit.verify(report.head)).entries).toBe(7);
    await here.run("INSERT INTO kept SELECT * FROM audit_log WHERE id NOT IN (SELECT id FROM kept)");
    await here.run("INSERT INTO kept_seals SELECT * FROM audit_seals WHERE seq = 7");
  });

  const restore = "INSERT OR IGNORE INTO audit_log SELECT * FROM kept";
  test.each([
    [
      "an entry that was changed",
      `UPDATE audit_log SET details = '{"at":33}' WHERE id = (SELECT entry_id FROM audit_seals WHERE seq = 3)`,
      `UPDATE audit_log SET details = '{"at":3}' WHERE id = (SELECT entry_id FROM audit_seals WHERE seq = 3)`,
      ["3: this entry was changed, or did not stand here"],
    ],
    [
      "an entry that was deleted",
      "DELETE FROM audit_log WHERE id = (SELECT entry_id FROM audit_seals WHERE seq = 2)",
      restore,
      [expect.stringMatching(/^2: the entry .+ was deleted$/)],
    ],
    [
      "an entry that was removed with its number",
      "DELETE FROM audit_seals WHERE seq = 4",
      "INSERT INTO audit_seals SELECT * FROM kept_seals WHERE seq = 4",
      ["4: this entry is missing", "7: 1 entry has no number: it was added by hand"],
    ],
    [
      "hashes that were removed, to have them made anew",
      "UPDATE audit_seals SET mac = NULL WHERE seq >= 6",
      "UPDATE audit_seals SET mac = (SELECT mac FROM kept_seals AS k WHERE k.seq = audit_seals.seq)",
      ["6: the hash of this entry was removed", "7: the hash of this entry was removed", expect.any(String)],
    ],
    [
      "an end that was cut off",
      "DELETE FROM audit_seals WHERE seq = 7",
      "INSERT INTO audit_seals SELECT * FROM kept_seals WHERE seq = 7",
      ["7: the end was cut off: the chain had entries up to 7", expect.any(String)],
    ],
    [
      "an end that was moved with it",
      "UPDATE audit_chain SET head_seq = 5, head_mac = (SELECT mac FROM audit_seals WHERE seq = 5)",
      "UPDATE audit_chain SET head_seq = 7, head_mac = (SELECT mac FROM audit_seals WHERE seq = 7)",
      ["5: the noted ends of the chain were changed by hand"],
    ],
  ])("shows %s", async (_, sql, back, expected) => {
    expect(await tampered(sql, back)).toEqual(expected as string[]);
    expect(await problems()).toEqual([]);
  });

  test("shows that the log was emptied with all that belongs to it, before and after the service goes on", async () => {
    const emptied = await world();
    try {
      for (const action of ["user.enable", "user.disable"])
        await emptied.database.write([emptied.audit.record({ action, target })]);
      await emptied.audit.seal();
      await emptied.run("DROP TRIGGER audit_log_kept");
      for (const table of ["audit_log", "audit_seals"]) await emptied.run(`DELETE FROM ${table}`);
      const cut = { ok: false, breaks: [{ seq: 1, problem: "the end was cut off: the chain had entries up to 2" }] };
      expect(await emptied.audit.verify()).toMatchObject(cut);
      await emptied.run("DELETE FROM audit_chain");
      const problem = "entries up to 2 were written, and are gone from here on";
      expect(await emptied.audit.verify()).toMatchObject({ ok: false, breaks: [{ seq: 1, problem }] });
      await emptied.database.write([emptied.audit.record({ action: "user.enable", target })]);
      await emptied.audit.seal();
      const gap = { seq: 1, problem: "entries up to 2 are missing" };
      expect(await emptied.audit.verify()).toMatchObject({ ok: false, breaks: [gap] });
    } finally {
      await emptied.remove();
    }
  });

  test("shows that the row with its ends was deleted", async () => {
    const cut = await world();
    try {
      await cut.database.write([cut.audit.record({ action: "user.enable", target })]);
      expect(await cut.audit.verify()).toMatchObject({ ok: true, entries: 1, begunAt: 0 });
      await cut.audit.seal();
      await cut.run("DELETE FROM audit_chain");
      const problem = "the chain is gone, with which entries up to this one were sealed";
      expect(await cut.audit.verify()).toMatchObject({ ok: false, breaks: [{ seq: 1, problem }] });
    } finally {
      await cut.remove();
    }
  });

  test("that was made anew differs from a head that was noted elsewhere", async () => {
    const { head } = await here.audit.verify();
    const chain = "CREATE TABLE kept_chain AS SELECT * FROM audit_chain";
    await here.run(chain);
    await here.run("DELETE FROM audit_chain");
    await here.run("UPDATE audit_seals SET mac = NULL");
    await here.audit.seal();
    expect(await problems()).toEqual([]);
    expect(await problems(head)).toEqual(["7: this entry has another hash than the one noted elsewhere"]);
  });
});

describe("prune", () => {
  test("deletes entries older than two years; the rest can still be verified", async () => {
    const here = await world();
    try {
      const { database, audit } = here;
      await database.write([
        entryAt("user.old", Date.now() - 732 * DAY),
        entryAt("user.younger", Date.now() - 729 * DAY),
      ]);
      await database.write([audit.record({ action: "user.enable", target })]);
      await audit.seal();
      const noted = (await audit.verify()).head;
      await audit.deleteBatch(Date.now() - AUDIT_KEPT_MS, 100);
      expect(await here.numbers()).toEqual([2, 3]);
      expect(await audit.verify(noted)).toMatchObject({ ok: true, entries: 2, pruned: 1 });
    } finally {
      await here.remove();
    }
  });

  test("without a newer entry leaves old ones, since their two years end with it", async () => {
    const here = await world();
    try {
      await here.database.write([
        entryAt("user.old", Date.now() - 800 * DAY),
        entryAt("user.older", Date.now() - 801 * DAY),
      ]);
      await here.audit.seal();
      await here.audit.deleteBatch(Date.now() - AUDIT_KEPT_MS, 100);
      expect(await here.numbers()).toEqual([1, 2]);
    } finally {
      await here.remove();
    }
  });
});

describe("entries that no process has sealed", () => {
  let here: World;
  beforeEach(async () => {
    here = await world();
    await here.audit.start();
    for (const action of ["user.enable", "user.disable"])
      await here.database.write([here.audit.record({ action, target })]);
    await here.audit.stop();
    await here.audit.close();
  });
  afterEach(() => here.remove());
  const forge = () => here.database.write([entryAt("user.promote", Date.now())]);
  const lateEntries = async () =>
    (await here.database.read("SELECT details FROM audit_log WHERE action = 'audit.sealed-late' ORDER BY id")).rows.map(
      ({ details }) => JSON.parse(String(details)),
    );

  test("a process seals its own before it ends, and its next start has nothing to note", async () => {
    expect(await here.reopen().verify()).toMatchObject({ ok: true, entries: 2, late: [], breaks: [] });
    const command = here.reopen();
    await here.database.write([command.record({ action: "user.enable", target })]);
    await command.close();
    const service = here.reopen();
    const early = service.record({ action: "user.promote", target });
    await here.database.write([early]);
    await service.start();
    await service.close();
    expect(await here.reopen().verify()).toMatchObject({ ok: true, entries: 4, late: [] });
  });

  test("of somebody else are named, and are not as Berth leaves the log", async () => {
    await forge();
    const report = await here.reopen().verify();
    expect(report).toMatchObject({ ok: false, entries: 2, breaks: [], waiting: { entries: 1, first: 3, last: 3 } });
    expect(Date.now() - (report.waiting?.since ?? 0)).toBeLessThan(60_000);
    await here.database.write([entryAt("audit.sealed-late", 9_000_000_000_000_000)]);
    await here.run(
      "INSERT INTO audit_log SELECT 'x', at, 'command', NULL, '', action, 'audit', '', '', 'no JSON', NULL, NULL FROM audit_log WHERE action = 'audit.sealed-late'",
    );
    const service = here.reopen();
    await service.start();
    await service.close();
    expect((await here.reopen().verify()).late).toHaveLength(2);
  });

  test("are sealed by a start with an entry that names them, which is sealed, too", async () => {
    await forge();
    const service = here.reopen();
    await service.start();
    await service.close();
    expect(await here.reopen().verify()).toMatchObject({
      ...{ ok: true, entries: 4, breaks: [] },
      late: [{ entries: 1, first: 3, last: 3 }],
    });
    expect(await lateEntries()).toMatchObject([{ entries: 1, first: 3, last: 3, since: expect.any(String) }]);
    const next = here.reopen();
    await next.start();
    await next.close();
    expect(await lateEntries()).toHaveLength(1);
  });

  test("are noted by a command, too, that seals its own after them", async () => {
    await forge();
    const command = here.reopen();
    await here.database.write([command.record({ action: "data.prune", target })]);
    await command.close();
    expect(await here.reopen().verify()).toMatchObject({
      ok: true,
      entries: 5,
      late: [{ entries: 1, first: 3, last: 3 }],
    });
  });

  test("are noted at the beginning of a chain, too, so that one made anew does not hide it", async () => {
    await here.run("DELETE FROM audit_chain");
    await here.run("UPDATE audit_seals SET mac = NULL");
    const service = here.reopen();
    await service.start();
    await service.close();
    expect(await here.reopen().verify()).toMatchObject({ ok: true, late: [{ entries: 2, first: 1, last: 2 }] });
  });
});
