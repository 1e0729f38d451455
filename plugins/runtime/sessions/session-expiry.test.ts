// Tests the expiry of sessions: which ones expire and when, and that sessions with pending messages are kept.

import { afterEach, beforeEach, expect, setSystemTime, test } from "bun:test";
import { deleteInBatches } from "../../../src/kernel/retention/deletion.ts";
import { fileDatabase, type TestDatabase } from "../../../tests/support/database.ts";
import { insertAgent } from "../../../tests/support/records.ts";
import { createInbox, type Inbox } from "../inbox/inbox.ts";
import { visitorsKind } from "./session-expiry.ts";
import { createSessions, type Sessions } from "./sessions.ts";

const DAY = 86_400_000;
let store: TestDatabase;
let sessions: Sessions;
let inbox: Inbox;
let agentId: string;
let expire: () => Promise<unknown>;
beforeEach(async () => {
  store = await fileDatabase();
  sessions = createSessions(store);
  inbox = createInbox({ ...store, sessions, uploads: { useStatements: () => [] }, recordTurn: () => undefined });
  agentId = await insertAgent(store.database);
  const { steps, keepMs = 0 } = visitorsKind({ database: store.database, sessions });
  expire = () => deleteInBatches(steps, Date.now() - keepMs);
});
afterEach(async () => {
  setSystemTime();
  await store.remove();
});

const inDays = (days: number) => setSystemTime(Date.now() + days * DAY + 1);
const left = async () => (await store.database.read("SELECT id FROM sessions")).rows.map(({ id }) => String(id));
const messages = async () => Number((await store.database.read("SELECT count(*) FROM messages")).rows[0]?.[0]);

/** Stores a message, and settles it unless `waits` is set. */
async function storeMessage(platform: "public" | "channel_a" | "web", { waits = false, peer = "somebody" } = {}) {
  const arrival = { agentId, platform, to: { peer }, sender: { id: "7", name: "" }, byOwner: false, content: "Hello" };
  const [entry] = await inbox.accept([arrival]);
  if (!entry) throw new Error("Nothing was stored.");
  const to = { id: entry.sessionId, agentId, platform, inboxId: entry.id };
  const words = { id: entry.id, role: "user" as const, content: "Hello", taint: 0 as const, at: Date.now() };
  if (!waits)
    await store.database.write([...sessions.appendStatements(to, [words]), inbox.settleStatement(entry, "done")]);
  return entry.sessionId;
}

test("a visitor's session and its messages are deleted after a month, in two passes; other sessions are kept", async () => {
  const gone = await storeMessage("public");
  const kept = [await storeMessage("channel_a"), await storeMessage("web")];
  inDays(29);
  await expire();
  expect(await left()).toHaveLength(3);
  inDays(1);
  await expire();
  expect(await left()).toContain(gone);
  // The session is completed: the visitor's next message opens another.
  const again = await storeMessage("public");
  expect(again).not.toBe(gone);
  await expire();
  expect((await left()).toSorted()).toEqual([...kept, again].toSorted());
  expect(await messages()).toBe(3);
});

test("the inbox loses the texts of a visitor's messages, answered or not, and keeps those of others", async () => {
  const words = async () =>
    (await store.database.read("SELECT platform, content, topic, sender_name FROM inbox ORDER BY id")).rows.map((row) =>
      Array.from(row),
    );
  await storeMessage("public");
  await storeMessage("channel_a");
  const lost = await storeMessage("public", { waits: true, peer: "unlucky" });
  await store.database.write([{ sql: "UPDATE inbox SET status = 'failed' WHERE session_id = ?", args: [lost] }]);
  inDays(29);
  // Another visitor returns before the expiry, and keeps the old session.
  const known = await storeMessage("public", { peer: "faithful" });
  inDays(2);
  await expire();
  await expire();
  expect(await left()).toContain(known);
  expect(await words()).toEqual([
    ["public", "", null, ""],
    ["channel_a", "Hello", null, ""],
    ["public", "", null, ""],
    ["public", "Hello", null, ""],
  ]);
});

test("an empty session of the web is deleted after a day", async () => {
  const { id } = await sessions.create(agentId, "web");
  await expire();
  expect(await left()).toEqual([id]);
  inDays(1);
  const { id: fresh } = await sessions.create(agentId, "web");
  await expire();
  expect(await left()).toEqual([fresh]);
});

test("a session with a pending message is kept", async () => {
  const ids = [await storeMessage("public", { waits: true }), await storeMessage("web", { waits: true })];
  inDays(60);
  await expire();
  await expire();
  expect((await left()).toSorted()).toEqual(ids.toSorted());
});

test("deletes many sessions, and sessions with many messages", async () => {
  await storeMessage("public");
  const many = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?2)`;
  await store.database.write([
    {
      sql: `INSERT INTO sessions (id, agent_id, platform, peer, message_count, created_at, last_activity_at)
        ${many} SELECT 'sess_' || i, ?1, 'public', 'visitor:' || i, 2, 1, 1 FROM n`,
      args: [agentId, 450],
    },
    {
      sql: `INSERT INTO messages (id, session_id, agent_id, inbox_id, platform, role, content, created_at)
        ${many} SELECT 'm' || i, 'sess_' || iif(i < 1200, 1, i % 450 + 1), ?1, 'i', 'public', 'user', 'words', 1 FROM n`,
      args: [agentId, 3_000],
    },
  ]);
  await expire();
  await expire();
  expect(await left()).toHaveLength(1);
  expect(await messages()).toBe(1);
});
