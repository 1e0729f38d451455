// Tests that messages are read in pages that are small in rows and in bytes.
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Agent } from "../../agents/index.ts";
import { openRuntimeFixture, type RuntimeFixture } from "../support.test.ts";
import type { MessageRow } from "./backup-rows.ts";
import { createMessagePages } from "./message-pages.ts";

let fixture: RuntimeFixture;
let agent: Agent;
beforeAll(async () => {
  fixture = await openRuntimeFixture();
  agent = await fixture.agent();
});
afterAll(() => fixture[Symbol.asyncDispose]());

/** Adds a session with messages of these sizes; returns their numbers. */
async function fill(session: string, sizes: readonly number[]): Promise<number[]> {
  const add = (size: number) => ({
    sql: `INSERT INTO messages (id, session_id, agent_id, inbox_id, platform, role, content, created_at)
      VALUES (?, ?, ?, '', 'web', 'user', ?, 1)`,
    args: [crypto.randomUUID(), session, agent.id, "x".repeat(size)],
  });
  await fixture.kernel.database.write([
    {
      sql: "INSERT INTO sessions (id, agent_id, platform, created_at, last_activity_at) VALUES (?, ?, 'web', 1, 1)",
      args: [session, agent.id],
    },
    ...sizes.map(add),
  ]);
  const rows = await fixture.rows("SELECT seq FROM messages WHERE session_id = ? ORDER BY seq", session);
  return rows.map(({ seq }) => Number(seq));
}

const parse = (page: string) => JSON.parse(page) as MessageRow[];

test("long messages come in pages of few, each message once and in order", async () => {
  const pages = createMessagePages(fixture.kernel.database);
  const seqs = await fill("sess_long", [10, 200_000, 200_000, 10, 900_000, 10, 10]);
  for (const read of [pages.of(seqs), pages.upTo("sess_long", seqs.at(-1) ?? 0)]) {
    const found = (await Array.fromAsync(read)).map(parse);
    expect(found.map((page) => page.length)).toEqual([2, 2, 1, 2]);
    expect(found.flat().map(({ seq }) => seq)).toEqual(seqs);
  }
});

test("many short messages come in pages of 100; those after the last number don't come", async () => {
  const pages = createMessagePages(fixture.kernel.database);
  const seqs = await fill(
    "sess_many",
    Array.from({ length: 250 }, () => 1),
  );
  const upTo = (await Array.fromAsync(pages.upTo("sess_many", seqs[219] ?? 0))).map(parse);
  expect(upTo.map((page) => page.length)).toEqual([100, 100, 20]);
  expect((await Array.fromAsync(pages.of(seqs))).map(parse).map((page) => page.length)).toEqual([100, 100, 50]);
  expect(await Array.fromAsync(pages.upTo("sess_none", 1_000))).toEqual([]);
});
