// Tests the removal of agents: small ones in one write, large ones in steps that keep the event loop free.
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Agent } from "../../agents/index.ts";
import { agents } from "../../agents/index.ts";
import { MAX_STEP_BYTES } from "../id-pages.ts";
import { openRuntimeFixture, type RuntimeFixture } from "../support.test.ts";
import { createAgentRemoval } from "./agent-removal.ts";

let fixture: RuntimeFixture;
beforeAll(async () => {
  fixture = await openRuntimeFixture();
});
afterAll(() => fixture[Symbol.asyncDispose]());

const remove = ({ id }: Agent) => fixture.host.use(agents).remove(id);
const left = async ({ id }: Agent) => {
  const of = (table: string) => `(SELECT count(*) FROM ${table} WHERE agent_id = ?1) AS ${table}`;
  const [row] = await fixture.rows(`SELECT ${["sessions", "messages", "inbox", "outbox"].map(of).join(", ")}`, id);
  return row;
};
const NOTHING = { sessions: 0, messages: 0, inbox: 0, outbox: 0 };

/** Inserts so many sessions, each with two messages, an inbox entry and an outbox row. */
async function fill({ id }: Agent, count: number): Promise<void> {
  const numbers = `WITH RECURSIVE n(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n WHERE value < ${count})`;
  const statement = (sql: string) => ({ sql: `${numbers} ${sql}`, args: [id] });
  await fixture.kernel.database.write([
    statement(`INSERT INTO sessions (id, agent_id, platform, peer, status, message_count, created_at, last_activity_at)
      SELECT ?1 || value, ?1, 'channel_a', 'p' || value, 'open', 2, value, value FROM n`),
    ...["user", "assistant"].map((role) =>
      statement(`INSERT INTO messages (id, session_id, agent_id, inbox_id, platform, role, content, created_at)
        SELECT '${role}' || value, ?1 || value, ?1, value, 'channel_a', '${role}', 'words', value FROM n`),
    ),
    statement(`INSERT INTO inbox (id, agent_id, session_id, platform, peer, sender_id, sender_name, by_owner, content, status, received_at, settled_at)
      SELECT printf('00000000-%08x', value), ?1, ?1 || value, 'channel_a', 'p' || value, '7', 'Bob', 0, 'words', 'done', 1, 1 FROM n`),
    statement(`INSERT INTO outbox (id, inbox_id, agent_id, platform, peer, body, status, created_at)
      SELECT ?1 || value, value, ?1, 'channel_a', 'p' || value, 'words', 'sent', 1 FROM n`),
  ]);
}

test("a small agent is deleted in one write, without being stopped before", async () => {
  const [agent, other] = [await fixture.agent(), await fixture.agent()];
  for (const one of [agent, other]) await fill(one, 100);
  expect(await remove(agent)).toBe(true);
  expect(await left(agent)).toEqual(NOTHING);
  expect(await left(other)).toEqual({ sessions: 100, messages: 200, inbox: 100, outbox: 100 });
  const events = await fixture.kernel.events.since(0, {
    userId: agent.userId,
    types: ["agent.status", "agent.deleted"],
  });
  expect(events.filter(({ agentId }) => agentId === agent.id).map(({ type }) => type)).toEqual(["agent.deleted"]);
  expect(await remove(agent)).toBe(false);
});

test("an agent with 20,000 sessions is deleted in steps while the event loop keeps turning", async () => {
  const [agent, other] = [await fixture.agent(), await fixture.agent()];
  await fill(agent, 20_000);
  await fill(other, 10);
  let turns = 0;
  let over = false;
  const turning = (async () => {
    for (; !over; turns++) await new Promise((resolve) => void setImmediate(resolve));
  })();
  const removed = remove(agent);
  // An agent that is being deleted does not answer.
  await fixture.chat(other, "Are you there?");
  expect(await removed).toBe(true);
  over = true;
  await turning;
  // A write of 250 rows takes some milliseconds, and there are hundreds.
  expect(turns).toBeGreaterThan(150);
  expect(await left(agent)).toEqual(NOTHING);
  expect(await fixture.rows("SELECT 1 FROM agents WHERE id = ?", agent.id)).toEqual([]);
  expect(await left(other)).toMatchObject({ sessions: 11, messages: 22 });
});

test("few but large messages are deleted in steps, too, of a few megabytes each", async () => {
  const agent = await fixture.agent();
  await fill(agent, 20);
  const large = 500_000;
  const sql = "UPDATE messages SET content = hex(zeroblob(?2)) WHERE agent_id = ?1";
  await fixture.kernel.database.write([{ sql, args: [agent.id, large / 2] }]);
  const deleted: number[] = [];
  const { database } = fixture.kernel;
  const write: typeof database.write = async (statements) => {
    const before = await left(agent);
    const results = await database.write(statements);
    deleted.push(Number(before?.messages) - Number((await left(agent))?.messages));
    return results;
  };
  const removal = createAgentRemoval({
    database: { ...database, write },
    agents: fixture.host.use(agents),
    holdTurns: () => () => undefined,
  });
  await removal(agent.id);
  expect(await left(agent)).toEqual(NOTHING);
  expect(Math.max(...deleted)).toBe(Math.ceil(MAX_STEP_BYTES / large));
  expect(deleted.reduce((sum, count) => sum + count)).toBe(40);
});

test("every foreign key to agents and sessions has an index that starts with its columns, so that a deletion scans no table", async () => {
  const keys = await fixture.rows(`SELECT m.name AS child, f.id, group_concat(f."from") AS columns
    FROM sqlite_schema AS m, pragma_foreign_key_list(m.name) AS f WHERE m.type = 'table' AND f."table" IN ('agents', 'sessions') GROUP BY m.name, f.id`);
  expect(keys.length).toBeGreaterThan(10);
  const indexes = await fixture.rows(`SELECT m.name AS child, group_concat(i.name) AS columns
    FROM sqlite_schema AS m, pragma_index_list(m.name) AS l, pragma_index_info(l.name) AS i
    WHERE m.type = 'table' AND l.partial = 0 GROUP BY m.name, l.name`);
  const missing = keys.filter(
    (key) =>
      !indexes.some(
        ({ child, columns }) => child === key.child && `${String(columns)},`.startsWith(`${String(key.columns)},`),
      ),
  );
  expect(missing.map(({ child, columns }) => `${String(child)} (${String(columns)})`)).toEqual([]);
});
