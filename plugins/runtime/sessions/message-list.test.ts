// Tests the list of an agent's messages: order, pages, no messages of other agents, no erased messages, and speed.

import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Agent } from "../../agents/index.ts";
import type { Platform } from "../inbox/entries.ts";
import { openRuntimeFixture, type RuntimeFixture } from "../support.test.ts";
import { createMessageList, type ListedMessage } from "./message-list.ts";

const CHANNELS: Platform[] = ["channel_a", "channel_b", "channel_c"];
const ALL: Platform[] = [...CHANNELS, "web", "api"];

let fixture: RuntimeFixture;
beforeAll(async () => {
  fixture = await openRuntimeFixture();
});
afterAll(() => fixture[Symbol.asyncDispose]());

const page = async (agent: Pick<Agent, "id">, limit = 50, offset = 0, platforms = CHANNELS) =>
  (await createMessageList(fixture.kernel).page(agent.id, { limit, offset, platforms })).messages;
const linesOf = (messages: readonly ListedMessage[]) => messages.map(({ sender, content }) => `${sender}: ${content}`);

test("lists messages and replies newest first, with sender, platform and time", async () => {
  const agent = await fixture.agent();
  for (const content of ["One", "Two"]) {
    await fixture.hear(agent, content);
    await fixture.idle();
  }
  const listed = await page(agent);
  expect(linesOf(listed)).toEqual(["agent: echo: Two", "user: Two", "agent: echo: One", "user: One"]);
  const rows = await fixture.rows(
    "SELECT id, role, created_at FROM messages WHERE agent_id = ? ORDER BY seq DESC",
    agent.id,
  );
  expect(listed.map(({ id }) => id)).toEqual(rows.map(({ id }) => String(id)));
  expect(listed.map(({ at }) => at)).toEqual(rows.map(({ created_at }) => Number(created_at)));
  expect(new Set(listed.map(({ platform }) => platform))).toEqual(new Set(["channel_a"]));
});

test.each([1, 2, 3])(
  "pages of %d by their cursors have each message once, also when one arrives meanwhile",
  async (limit) => {
    const agent = await fixture.agent();
    for (const content of ["One", "Two", "Three"]) {
      await fixture.hear(agent, content);
      await fixture.idle();
    }
    const list = createMessageList(fixture.kernel);
    const whole = (await page(agent)).map(({ id }) => id);
    const found: string[] = [];
    for (let cursor: string | undefined; ; ) {
      const { messages, nextCursor } = await list.page(agent.id, { limit, offset: 0, cursor, platforms: CHANNELS });
      found.push(...messages.map(({ id }) => id));
      if (nextCursor === null) break;
      if (cursor === undefined) {
        await fixture.hear(agent, "Meanwhile");
        await fixture.idle();
      }
      cursor = nextCursor;
    }
    expect(found).toEqual(whole);
    expect(list.page(agent.id, { limit, offset: 0, cursor: "elsewhere", platforms: CHANNELS })).rejects.toMatchObject({
      status: 400,
    });
  },
);

test("messages that are gone end no walk by cursors", async () => {
  const agent = await fixture.agent();
  for (const content of ["One", "Two", "Three", "Four"]) {
    await fixture.hear(agent, content);
    await fixture.idle();
  }
  const gone = "DELETE FROM messages WHERE agent_id = ? AND content IN ('echo: Three', 'echo: Two')";
  await fixture.kernel.database.write([{ sql: gone, args: [agent.id] }]);
  const list = createMessageList(fixture.kernel);
  const found: ListedMessage[] = [];
  for (let cursor: string | undefined, next: string | null = ""; next !== null; cursor = next ?? undefined) {
    const page = await list.page(agent.id, { limit: 3, offset: 0, cursor, platforms: CHANNELS });
    found.push(...page.messages);
    next = page.nextCursor;
  }
  expect(linesOf(found)).toEqual([
    "agent: echo: Four",
    "user: Four",
    "user: Three",
    "user: Two",
    "agent: echo: One",
    "user: One",
  ]);
});

test("includes messages of the web and the API on request", async () => {
  const agent = await fixture.agent();
  await fixture.chat(agent, "From the web");
  await fixture.chat(agent, "From the API", { platform: "api", topic: "t" });
  await fixture.hear(agent, "From a channel");
  await fixture.idle();
  expect(linesOf(await page(agent))).toEqual(["agent: echo: From a channel", "user: From a channel"]);
  const all = await page(agent, 50, 0, ALL);
  expect(all.map(({ platform }) => platform)).toEqual(["channel_a", "channel_a", "api", "api", "web", "web"]);
});

test("lists messages without a reply, but not the text of a due reminder", async () => {
  const agent = await fixture.agent();
  fixture.upstream.script(() => ({ status: 401, message: "no" }));
  await fixture.hear(agent, "Refused");
  await fixture.idle();
  fixture.upstream.script(() => undefined);
  await fixture.hear(agent, "Tea", { kind: "reminder" });
  await fixture.hear(agent, "/help");
  await fixture.idle();
  await fixture.agents.setStatus(agent.id, "stopped");
  await fixture.hear(agent, "Waits");
  const listed = linesOf(await page(agent));
  expect(listed.slice(0, 1)).toEqual(["user: Waits"]);
  expect(listed).toContain("user: Refused");
  expect(listed).toContain("user: /help");
  expect(listed.filter((line) => line.startsWith("agent: "))).toHaveLength(2);
  expect(listed).not.toContain("user: Tea");
});

test("pages of any size follow each other without gap or overlap", async () => {
  const agent = await fixture.agent();
  for (let n = 0; n < 7; n++) await fixture.hear(agent, `Line ${n}`, { to: { peer: `chat-${n % 3}` } });
  await fixture.idle();
  const all = new Set((await page(agent, 100)).map(({ id }) => id));
  expect(all.size).toBe(14);
  for (const size of [1, 3, 5, 14]) {
    const seen: string[] = [];
    for (let offset = 0; offset < 20; offset += size) {
      const part = await page(agent, size, offset);
      expect(part.map(({ at }) => at)).toEqual(part.map(({ at }) => at).sort((a, b) => b - a));
      seen.push(...part.map(({ id }) => id));
    }
    expect(seen).toHaveLength(14);
    expect(new Set(seen)).toEqual(all);
  }
  expect(await page(agent, 50, Number.MAX_SAFE_INTEGER)).toEqual([]);
});

test("lists nothing of another agent, also when the number of a reply is reused", async () => {
  const [ada, bob] = [await fixture.agent(), await fixture.agent()];
  await fixture.hear(ada, "Hers");
  await fixture.idle();
  // The newest message is deleted, and the next one gets its number.
  await fixture.kernel.database.write([{ sql: "DELETE FROM messages WHERE agent_id = ?", args: [ada.id] }]);
  await fixture.hear(bob, "His");
  await fixture.idle();
  const [hers] = await fixture.rows("SELECT reply FROM inbox WHERE agent_id = ?", ada.id);
  const [his] = await fixture.rows("SELECT reply FROM inbox WHERE agent_id = ?", bob.id);
  expect(hers?.reply).toBe(his?.reply);
  expect(linesOf(await page(ada))).toEqual(["user: Hers"]);
  expect(linesOf(await page(bob))).toEqual(["agent: echo: His", "user: His"]);
});

describe("erased messages", () => {
  const forget = (agent: Agent, cleared: boolean) =>
    fixture.runtime.service.whileQuiesced(agent.id, async () => {
      const { statements, cleanUp } = fixture.runtime.service.backupRows.erase(agent.id);
      await fixture.kernel.database.write(statements);
      if (cleared) await cleanUp();
    });

  test.each([
    ["before the clean-up", false],
    ["after the clean-up", true],
  ])("are not listed %s; later messages are", async (_, cleared) => {
    const agent = await fixture.agent();
    await fixture.hear(agent, "Before");
    await fixture.chat(agent, "Before, on the web");
    await fixture.idle();
    await forget(agent, cleared);
    expect(await page(agent, 50, 0, ALL)).toEqual([]);
    await fixture.hear(agent, "After");
    await fixture.idle();
    expect(linesOf(await page(agent, 50, 0, ALL))).toEqual(["agent: echo: After", "user: After"]);
  });
});

describe("with 100,000 messages", () => {
  let agent: Agent;
  let other: Agent;
  beforeAll(async () => {
    [agent, other] = [await fixture.agent(), await fixture.agent()];
    await fixture.chat(other, "Beside it");
    await fixture.hear(agent, "The last");
    await fixture.idle();
    const [row] = await fixture.rows("SELECT session_id FROM inbox WHERE agent_id = ?", agent.id);
    // Ids in the form of the inbox's ids, but much older.
    const id = "printf('00000000-%04x-7%03x-8000-000000000000', value / 4096, value % 4096)";
    const numbers = "WITH RECURSIVE n(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n WHERE value < 50000)";
    const [session, at] = [String(row?.session_id), Date.now()];
    const listed = (role: string, seq: string) => ({
      sql: `${numbers} INSERT INTO messages (seq, id, session_id, agent_id, inbox_id, platform, role, content, created_at)
        SELECT ${seq}, iif(?4 = 'user', ${id}, 'r' || value), ?1, ?2, ${id}, 'channel_a', ?4, ?4 || ' ' || value, ?3 FROM n`,
      args: [session, agent.id, at, role],
    });
    await fixture.kernel.database.write([
      listed("user", "1000000 + 2 * value"),
      listed("assistant", "1000001 + 2 * value"),
      {
        sql: `${numbers} INSERT INTO inbox (id, agent_id, session_id, platform, peer, sender_id, sender_name, by_owner, content, status, reply, received_at, settled_at)
          SELECT ${id}, ?2, ?1, 'channel_a', 'chat-1', '7', 'Bob', 0, 'user ' || value, 'done', 1000001 + 2 * value, ?3, ?3 FROM n`,
        args: [session, agent.id, at],
      },
    ]);
  });

  test("the first pages take a few milliseconds, and no page blocks the event loop", async () => {
    const took = async (offset: number) => {
      const times: number[] = [];
      for (let n = 0; n < 9; n++) {
        const started = performance.now();
        expect(await page(agent, 100, offset)).toHaveLength(100);
        times.push(performance.now() - started);
      }
      return Math.min(...times);
    };
    for (const offset of [0, 100, 1_000]) expect(await took(offset)).toBeLessThan(20);
    expect(linesOf(await page(agent, 4, 100_000))).toEqual(["agent: assistant 1", "user: user 1"]);
    // The event loop must turn every few milliseconds meanwhile.
    let turns = 0;
    let over = false;
    const turning = (async () => {
      for (; !over; turns++) await new Promise((resolve) => void setImmediate(resolve));
    })();
    expect(await page(agent, 50, 1e9)).toEqual([]);
    over = true;
    await turning;
    expect(turns).toBeGreaterThan(40);
  });

  test("are not looked through where no conversation is of the wanted platforms", async () => {
    const { database } = fixture.kernel;
    let queries = 0;
    const read: typeof database.read = (sql, args) => {
      queries++;
      return database.read(sql, args);
    };
    const list = createMessageList({ database: { ...database, read } });
    const range = { limit: 50, offset: 0, platforms: ["channel_c"] as const };
    expect(await list.page(agent.id, range)).toEqual({ messages: [], nextCursor: null });
    expect(queries).toBe(1);
  });

  test("uses indexes only and scans no table", async () => {
    const plans: string[] = [];
    const { database } = fixture.kernel;
    // Explained over a separate connection, since the service's would keep the statement open.
    using planner = new Database(database.file);
    const read: typeof database.read = (sql, args) => {
      const steps = planner.query<{ detail: string }, []>(`EXPLAIN QUERY PLAN ${sql}`).all();
      plans.push(...steps.map(({ detail }) => detail));
      return database.read(sql, args);
    };
    const found = await createMessageList({ database: { ...database, read } }).page(agent.id, {
      limit: 50,
      offset: 150,
      platforms: CHANNELS,
    });
    expect(found.messages).toHaveLength(50);
    const looks = plans.filter((step) => /\b(?:i|inbox|s|sessions|stored|messages)\b/.test(step));
    expect(looks.filter((step) => step.startsWith("SCAN"))).toEqual([]);
    expect(looks.join("\n")).toContain("SEARCH i USING PRIMARY KEY (agent_id=? AND id>? AND id<?)");
    expect(linesOf(await page(other, 50, 0, ALL))).toEqual(["agent: echo: Beside it", "user: Beside it"]);
  });
});
