// Plants a marker in every table and file that can hold somebody's data, erases them, and looks for it in every file of the data folder.
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { AppError } from "../../../src/kernel/errors.ts";
import { HOUR } from "../../../src/kernel/util/time.ts";
import { createClient } from "../../../tests/support/client.ts";
import { insertAgent } from "../../../tests/support/records.ts";
import { openServer, type TestServer } from "../../../tests/support/server.ts";
import { CHANNEL, filesOf, ID, MARK, OTHER, planter } from "../support.test.ts";
import type { Receipt } from "./receipt.ts";

let server: TestServer;
let agentId: string;
beforeEach(async () => {
  server = await openServer();
  agentId = await insertAgent(server.kernel.database);
});
afterEach(() => server[Symbol.asyncDispose]());

const count = async (table: string) =>
  Number((await server.kernel.database.read(`SELECT count(*) AS n FROM ${table}`)).rows[0]?.n);
const run = (name: string, args: Record<string, string> = {}) => {
  const command = server.app.commands[name];
  if (!command) throw new Error(`There is no command ${name}.`);
  return command({ operator: "ada", ...args });
};
const erase = (id = ID) => run("person.erase", { channel: "telegram", id }) as Promise<Receipt>;
const dataDir = () => server.kernel.config.dataDir;
const filesWith = (text: string) => filesOf(dataDir(), text);
/** As a kill does: from some write on, nothing is written any more. */
async function killedAfter(limit: number, work: () => unknown): Promise<void> {
  const { database } = server.kernel;
  const whole = database.write;
  let writes = 0;
  Object.assign(database, {
    write: (...given: Parameters<typeof whole>) =>
      ++writes > limit ? Promise.reject(new Error("killed")) : whole(...given),
  });
  await expect(Promise.resolve(work())).rejects.toThrow("killed");
  Object.assign(database, { write: whole });
}
async function approve(sender: string): Promise<void> {
  await server.kernel.database.write([
    {
      sql: `INSERT INTO channel_connections (agent_id, channel, bot_id, bot_username, token_digest, callback_id, callback_secret, created_at)
        VALUES (?, ?, 'bot', 'bot', '', 'c', '', 1)`,
      args: [agentId, CHANNEL],
    },
    {
      sql: `INSERT INTO pairings (agent_id, channel, sender_id, sender_name, peer, approved_at, created_at) VALUES (?, ?, ?, 'Ada', ?, ?, 1)`,
      args: [agentId, CHANNEL, sender, sender, Date.now()],
    },
  ]);
}
const plant: ReturnType<typeof planter> = (...given) => planter(server.kernel, agentId)(...given);

describe("somebody who only wrote to a bot", () => {
  test("is in no table and no file afterwards; others are untouched", async () => {
    await plant(ID, MARK);
    await plant(ID, MARK);
    await plant(OTHER, "otherotherother");
    const backups = join(dataDir(), "backups", agentId);
    mkdirSync(backups, { recursive: true });
    const name = `${new Date(Date.now() + 1_000).toISOString().replace(/[:.]/g, "-")}.json.gz`;
    writeFileSync(join(backups, name), gzipSync(`${MARK} in a backup of the agent`));
    expect(filesWith(MARK).length).toBeGreaterThan(1);
    const receipt = await erase();
    expect(receipt.deleted).toMatchObject({
      messages: 4,
      received: 2,
      conversations: 1,
      files: 2,
      memories: 2,
      logLines: 2,
      backups: 1,
    });
    // One of the agent as it is now has taken its place.
    expect(readdirSync(backups)).toHaveLength(1);
    expect(filesWith(MARK)).toEqual([]);
    expect(filesWith(ID)).toEqual([]);
    for (const [table, left] of Object.entries({
      messages: 2,
      inbox: 1,
      sessions: 1,
      outbox: 1,
      memories: 1,
      uploads: 1,
      turn_steps: 1,
    }))
      expect([table, await count(table)]).toEqual([table, left]);
    expect(filesWith("otherotherother").length).toBeGreaterThan(1);
    expect((await server.kernel.audit.verify()).ok).toBe(true);
  });

  test("is in the list of erasures beside the backups, too, which a lost disk leaves", async () => {
    const place = join(dataDir(), "database-backups");
    mkdirSync(place);
    writeFileSync(join(place, "berth-2026-11-26T03-00-00-000Z.tar.gz"), "");
    await plant(ID, MARK);
    const receipt = await erase();
    const [name = ""] = readdirSync(place).filter((one) => one.startsWith("berth-erasures-0-"));
    expect(readFileSync(join(place, name), "utf8")).toContain(receipt.person.hash);
    expect(readFileSync(join(place, name), "utf8")).toBe(readFileSync(join(dataDir(), "erasures.jsonl"), "utf8"));
  });

  test("in a group loses what they wrote, and others keep theirs", async () => {
    await plant(OTHER, "otherotherother", { group: "-100777" });
    await plant(ID, MARK, { group: "-100777" });
    await erase();
    expect(filesWith(MARK)).toEqual([]);
    const { rows } = await server.kernel.database.read("SELECT message_count AS n, summary FROM sessions");
    expect(rows).toMatchObject([{ n: 2, summary: null }]);
    expect(await count("inbox")).toBe(1);
  });

  test("gets a copy first, as one archive", async () => {
    await plant(ID, MARK);
    await plant(OTHER, "otherotherother");
    const file = join(server.dir, "copy.tar.gz");
    expect(await run("person.export", { channel: "telegram", id: ID, file })).toMatchObject({ file, files: 2 });
    const text = gunzipSync(readFileSync(file)).toString();
    expect(text).toContain(MARK);
    expect(text).not.toContain("otherotherother");
    expect(text).toMatch(/"created_at": "\d{4}-\d\d-\d\dT[\d:.]+Z"/);
    expect(text).not.toMatch(/_at": \d/);
    await expect(run("person.export", { channel: "telegram", id: ID, file: "x.gz" })).rejects.toMatchObject({
      status: 400,
    });
  });

  test("is refused a copy over another file, into no folder, and of whom nothing is known", async () => {
    await plant(ID, MARK);
    const file = join(server.dir, "copy.tar.gz");
    const copy = (id: string, file: string) => run("person.export", { channel: "telegram", id, file });
    await copy(ID, file);
    await expect(copy(ID, file)).rejects.toMatchObject({ code: "FILE_EXISTS" });
    const missing = join(server.dir, "none");
    await expect(copy(ID, join(missing, "copy.tar.gz"))).rejects.toThrow(`The folder ${missing} does not exist.`);
    await expect(copy(OTHER, join(server.dir, "other.tar.gz"))).rejects.toMatchObject({ code: "PERSON_NOT_FOUND" });
    const { rows } = await server.kernel.database.read(
      "SELECT actor_kind, actor_name, target_id, details FROM audit_log WHERE action = 'person.export'",
    );
    const { person } = await erase();
    const details = JSON.stringify({ files: 2 });
    expect(rows).toMatchObject([{ actor_kind: "command", actor_name: "ada", target_id: person.hash, details }]);
  });

  test("gets the same receipt again, until they come back", async () => {
    await plant(ID, MARK);
    const receipt = await erase();
    expect(await erase()).toEqual(receipt);
    await plant(ID, MARK);
    expect(await erase()).toMatchObject({ deleted: { messages: 2 } });
    expect(await count("erasures")).toBe(2);
  });

  test("a channel that does not exist is refused with those that do", async () => {
    await expect(run("person.erase", { channel: "fax", id: ID })).rejects.toThrow("Give one of telegram, ");
  });
});

describe("a receipt", () => {
  test("says what was deleted, by whom, and what remains; it names nobody", async () => {
    await plant(ID, MARK);
    const receipt = await erase();
    expect(receipt).toMatchObject({ by: { kind: "command", name: "ada" }, person: { channel: CHANNEL } });
    expect(receipt.remains.map(({ what }) => what).join()).toContain("backups of the whole service");
    expect(JSON.stringify(receipt)).not.toContain(ID);
  });

  test("can be verified, and a changed one can't", async () => {
    await plant(ID, MARK);
    const receipt = await erase();
    const verify = (one: unknown) => run("person.verify", { receipt: JSON.stringify(one) });
    expect(await verify(receipt)).toEqual({ genuine: [true] });
    expect(await verify(Object.fromEntries(Object.entries(receipt).toReversed()))).toEqual({ genuine: [true] });
    expect(await verify({ ...receipt, deleted: { messages: 1 } })).toEqual({ genuine: [false] });
    expect(await verify([receipt, { ...receipt, id: "another" }])).toEqual({ genuine: [true, false] });
    await expect(verify([])).rejects.toMatchObject({ code: "UNREADABLE_RECEIPT" });
    await expect(run("person.verify", { receipt: "hello" })).rejects.toMatchObject({ code: "UNREADABLE_RECEIPT" });
  });
});

describe("a receipt to which something was added", () => {
  test("is not genuine, wherever it was added", async () => {
    await plant(ID, MARK);
    const receipt = await erase();
    const { person, by, remains, signature } = receipt;
    const [first, ...others] = remains;
    const verify = (text: string) => run("person.verify", { receipt: text });
    for (const changed of [
      { ...receipt, account: "ada@example.com" },
      { ...receipt, extra: 1 },
      { ...receipt, person: { ...person, note: "x" } },
      { ...receipt, by: { ...by, note: "x" } },
      { ...receipt, remains: [{ ...first, note: "x" }, ...others] },
      { ...receipt, signature: [signature] },
      { ...receipt, signature: `${signature}=` },
    ])
      expect(await verify(JSON.stringify(changed))).toEqual({ genuine: [false] });
    const twice = JSON.stringify(receipt).replace("{", '{"id":"another",');
    expect(await verify(twice)).toEqual({ genuine: [false] });
    const rewritten = JSON.stringify(receipt, null, 4).replaceAll("ada", "\\u0061da");
    expect(await verify(rewritten)).toEqual({ genuine: [true] });
  });
});

describe("an interrupted erasure", () => {
  test("goes on by itself, with the counts of both parts in the receipt", async () => {
    await plant(ID, MARK);
    await plant(ID, MARK);
    await killedAfter(12, erase);
    expect(await count("erasures WHERE ended_at IS NULL")).toBe(1);
    expect(await count("jobs WHERE kind = 'privacy.erase'")).toBe(1);
    const receipt = await erase();
    expect(receipt.deleted).toMatchObject({ messages: 4, received: 2, conversations: 1, memories: 2 });
    expect(filesWith(MARK)).toEqual([]);
    expect(await count("erasures")).toBe(1);
  });
});

describe("after a restored backup", () => {
  /** As a backup of an hour ago has it. */
  const restored = (sender: string, mark: string) => plant(sender, mark, { at: Date.now() - HOUR });

  test("who comes back with it is erased again, found by a hash", async () => {
    await plant(ID, MARK);
    await erase();
    await restored(ID, MARK);
    await restored(OTHER, "otherotherother");
    expect(await run("person.reapply")).toEqual({ listed: 1, erased: 1 });
    expect(filesWith(MARK)).toEqual([]);
    expect(await count("inbox")).toBe(1);
    expect(readFileSync(join(dataDir(), "erasures.jsonl"), "utf8")).not.toContain(ID);
  });

  test("what somebody wrote after their erasure stays, with their approval", async () => {
    await plant(ID, MARK);
    await erase();
    await plant(ID, "newernewernewer");
    await approve(ID);
    for (const _ of [1, 2]) expect(await run("person.reapply")).toEqual({ listed: 1, erased: 0 });
    expect([await count("messages"), await count("inbox"), await count("pairings")]).toEqual([2, 1, 1]);
    expect(await count("memories")).toBe(1);
  });

  test("a conversation that went on loses what is older than the erasure, and its summary", async () => {
    await plant(ID, MARK);
    await erase();
    await restored(ID, MARK);
    await plant(ID, "newernewernewer");
    await server.kernel.database.write([{ sql: "UPDATE sessions SET last_activity_at = ?", args: [Date.now()] }]);
    expect(await run("person.reapply")).toEqual({ listed: 1, erased: 1 });
    expect(filesWith(MARK)).toEqual([]);
    const { rows } = await server.kernel.database.read("SELECT message_count AS n, summary FROM sessions");
    expect(rows).toMatchObject([{ n: 2, summary: null }]);
    for (const table of ["inbox", "memories", "reminders", "outbox", "turn_steps", "uploads"])
      expect([table, await count(table)]).toEqual([table, 1]);
    // Nothing is left to do, and what was done is not an erasure of today.
    await plant(ID, "newestnewestnew");
    expect(await run("person.reapply")).toEqual({ listed: 1, erased: 0 });
    expect(await count("inbox")).toBe(2);
  });

  test("an erasure that is asked for while such a one is unfinished is a whole one", async () => {
    await plant(ID, MARK);
    await erase();
    await restored(ID, MARK);
    await plant(ID, "newernewernewer");
    await killedAfter(8, () => run("person.reapply"));
    expect(await count("erasures WHERE ended_at IS NULL")).toBe(1);
    await erase();
    expect([await count("inbox"), await count("messages"), await count("sessions")]).toEqual([0, 0, 0]);
    expect(await count("erasures WHERE ended_at IS NULL")).toBe(0);
  });
});

test("somebody of whom nothing is known is not listed, so that nothing of what they write later is erased", async () => {
  await expect(erase("999")).rejects.toMatchObject({ code: "PERSON_NOT_FOUND" });
  await plant("999", MARK, { at: Date.now() - HOUR });
  expect(await run("person.reapply")).toEqual({ listed: 0, erased: 0 });
  expect(await count("inbox")).toBe(1);
});

describe("an account", () => {
  test("of the only admin is not erased", async () => {
    const [root, other] = [createClient(server.web), createClient(server.web)];
    const [rootId, otherId] = [await root.join(), await other.join()];
    const { users } = server.app.accounts;
    const setAdmin = (id: string) => server.kernel.database.write([users.updateStatement(id, { isAdmin: true })]);
    await setAdmin(rootId);
    const eraseRoot = () => run("person.erase", { email: root.account.email });
    await expect(eraseRoot()).rejects.toMatchObject({ status: 409, code: "LAST_ADMIN" });
    expect(await count("erasures")).toBe(0);
    await setAdmin(otherId);
    expect(await eraseRoot()).toMatchObject({ deleted: { accounts: 1 } });
  });

  test("of an admin is not erased while the only other one is: of two at once, one stays", async () => {
    const clients = [createClient(server.web), createClient(server.web)];
    const ids: string[] = [];
    for (const client of clients) ids.push(await client.join());
    const { users } = server.app.accounts;
    await server.kernel.database.write(ids.map((id) => users.updateStatement(id, { isAdmin: true })));
    const outcomes = await Promise.allSettled(clients.map(({ account: { email } }) => run("person.erase", { email })));
    expect(outcomes.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    expect(outcomes.find(({ status }) => status === "rejected")).toMatchObject({ reason: { code: "LAST_ADMIN" } });
    expect(await count("users WHERE is_admin = 1 AND disabled_at IS NULL")).toBe(1);
    expect([await count("erasures"), await count("erasures WHERE ended_at IS NULL")]).toEqual([1, 0]);
  });

  test("goes with its agents, and its address is left in the audit log alone", async () => {
    const client = createClient(server.web);
    const userId = await client.join();
    const { email } = client.account;
    const agentId = await insertAgent(server.kernel.database, { userId });
    const file = join(server.dir, "account.tar.gz");
    await run("person.export", { email, file });
    const copy = gunzipSync(readFileSync(file)).toString();
    expect(copy).toContain(email);
    expect(copy).toMatch(/"renewed_at": "\d{4}-/);
    rmSync(file);
    const receipt = await run("person.erase", { email });
    expect(receipt).toMatchObject({ person: { channel: "account" }, deleted: { accounts: 1, agents: 1, signIns: 1 } });
    expect(
      await count(`audit_log WHERE action = 'agent.delete' AND actor_kind = 'command' AND target_id = '${agentId}'`),
    ).toBe(1);
    expect(await count(`agents WHERE id = '${agentId}'`)).toBe(0);
    expect(await count(`users WHERE id = '${userId}'`)).toBe(0);
    expect(await count(`events WHERE user_id = '${userId}' AND instr(data, '${email}') > 0`)).toBe(0);
    // Its first print may be lost.
    expect(await run("person.erase", { email: email.toUpperCase() })).toEqual(receipt);
    const status = (name: string, args: Record<string, string>) =>
      Promise.resolve(run(name, args)).then(
        () => 200,
        (error: unknown) => (error instanceof AppError ? error.status : error),
      );
    expect(await status("person.export", { email, file })).toBe(404);
    expect(await status("person.erase", { email: "another@example.com" })).toBe(404);
  });
});
