// Tests which messages go with their time, what goes with them, and that a conversation goes on afterwards.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { deleteInBatches } from "../../../src/kernel/retention/deletion.ts";
import { DAY } from "../../../src/kernel/util/time.ts";
import { openRuntimeFixture, type RuntimeFixture } from "../support.test.ts";
import { messagesKind } from "./message-retention.ts";

let fixture: RuntimeFixture;
beforeEach(async () => {
  fixture = await openRuntimeFixture();
});
afterEach(() => fixture[Symbol.asyncDispose]());

const kind = () => messagesKind({ database: fixture.kernel.database, sessions: fixture.runtime.sessions }, undefined);
const prune = (before: number) => deleteInBatches(kind().steps, before);
const count = async (table: string) => Number((await fixture.rows(`SELECT count(*) AS n FROM ${table}`))[0]?.n);
/** Moves everything so many days into the past. */
const age = (days: number) =>
  fixture.kernel.database.write([
    { sql: "UPDATE messages SET created_at = created_at - ?1", args: [days * DAY] },
    { sql: "UPDATE sessions SET last_activity_at = last_activity_at - ?1", args: [days * DAY] },
  ]);

test("messages go with their time, the newest of all stays, and what is younger is not touched", async () => {
  const agent = await fixture.agent();
  for (const text of ["one", "two"]) await fixture.chat(agent, text);
  await age(10);
  await fixture.chat(agent, "three");
  expect(await prune(Date.now() - 20 * DAY)).toBe(0);
  expect(await prune(Date.now() - 5 * DAY)).toBeGreaterThanOrEqual(4);
  const left = await fixture.rows("SELECT content FROM messages WHERE role = 'user'");
  expect(left).toEqual([{ content: "three" }]);
});

test("the number of a conversation's messages follows, and the conversation goes on", async () => {
  const agent = await fixture.agent();
  const { sessionId } = await fixture.chat(agent, "old");
  await age(10);
  await fixture.chat(agent, "new", { sessionId });
  await prune(Date.now() - 5 * DAY);
  const [session] = await fixture.rows("SELECT message_count AS n, status FROM sessions WHERE id = ?", sessionId);
  expect(session).toEqual({ n: 2, status: "open" });
  await fixture.chat(agent, "newest", { sessionId });
  expect(await fixture.rows("SELECT content FROM messages WHERE role = 'user' ORDER BY seq")).toEqual([
    { content: "new" },
    { content: "newest" },
  ]);
});

test("a conversation without messages is completed by one run and deleted by the next", async () => {
  const agent = await fixture.agent();
  const { sessionId } = await fixture.chat(agent, "old");
  await age(10);
  await fixture.chat(agent, "other");
  await prune(Date.now() - 5 * DAY);
  expect(await fixture.rows("SELECT status FROM sessions WHERE id = ?", sessionId)).toEqual([{ status: "completed" }]);
  await prune(Date.now() - 5 * DAY);
  expect(await fixture.rows("SELECT status FROM sessions WHERE id = ?", sessionId)).toEqual([]);
});

test("entries of the inbox go with the steps of their turns; one that waits stays", async () => {
  const agent = await fixture.agent();
  await fixture.chat(agent, "answered");
  await fixture.chat(agent, "waits");
  await fixture.kernel.database.write([
    { sql: "UPDATE inbox SET status = 'pending', settled_at = NULL WHERE content = 'waits'", args: [] },
  ]);
  await prune(Date.now() + DAY);
  expect(await fixture.rows("SELECT content FROM inbox")).toEqual([{ content: "waits" }]);
  expect(await count("messages")).toBe(1);
  await fixture.kernel.database.write([{ sql: "UPDATE inbox SET status = 'done'", args: [] }]);
});

test("says how much there is, how old, and how large", async () => {
  const agent = await fixture.agent();
  await fixture.chat(agent, "one");
  await age(10);
  const measured = await kind().measure(Date.now() - 5 * DAY);
  expect(measured.rows).toBe(2);
  expect(measured.bytes).toBeGreaterThan(300);
  expect(Date.now() - (measured.oldest ?? 0)).toBeGreaterThan(9 * DAY);
  expect(await kind().measure(Date.now() - 20 * DAY)).toEqual({ rows: 0, bytes: 0, oldest: undefined });
});
