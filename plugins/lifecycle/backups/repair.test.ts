// Tests repair: it fixes inconsistent state of an agent, describes each fix, and finds nothing the second time.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { DAY } from "../../../src/kernel/util/time.ts";
import { eventually } from "../../../tests/support/eventually.ts";
import type { Agent } from "../../agents/index.ts";
import { type Harness, openHarness, type Row } from "./support.test.ts";

let harness: Harness;
beforeAll(async () => {
  harness = await openHarness();
});
afterAll(() => harness[Symbol.asyncDispose]());

const repair = (agent: Agent) =>
  harness.services.runtime.whileQuiesced(agent.id, () => harness.backups.repair(agent.id));

/** Expects exactly these repairs, and none when run again. */
async function expectRepairs(agent: Agent, ...descriptions: (string | RegExp)[]): Promise<void> {
  const found = await repair(agent);
  expect(found).toHaveLength(descriptions.length);
  for (const [n, description] of descriptions.entries()) expect(found[n]).toMatch(description);
  expect(await repair(agent)).toEqual([]);
}

const inbox = (agent: Agent): Promise<Row[]> =>
  harness.rows("SELECT id, status, attempts, error FROM inbox WHERE agent_id = ? ORDER BY id", agent.id);
const messagesOf = (agent: Agent): Promise<Row[]> =>
  harness.rows("SELECT role, content FROM messages WHERE agent_id = ? ORDER BY seq", agent.id);

/** Inserts a message into the inbox of a stopped agent, which does not run it. */
async function entry(agent: Agent, id: string, columns: Row = {}): Promise<void> {
  const row: Row = {
    id,
    agent_id: agent.id,
    session_id: "sess_1",
    platform: "channel_a",
    peer: "chat-1",
    sender_id: "42",
    sender_name: "Bob",
    by_owner: 0,
    content: `content of ${id}`,
    received_at: 1,
    ...columns,
  };
  await insert("inbox", row);
}
async function insert(table: string, row: Row): Promise<void> {
  const names = Object.keys(row);
  await harness.run(
    `INSERT INTO ${table} (${names.join(", ")}) VALUES (${names.map(() => "?").join(", ")})`,
    ...(Object.values(row) as (string | number | null)[]),
  );
}
const session = (agent: Agent, columns: Row = {}) =>
  insert("sessions", {
    id: "sess_1",
    agent_id: agent.id,
    platform: "channel_a",
    peer: "chat-1",
    created_at: 1,
    last_activity_at: 1,
    ...columns,
  });
const message = (agent: Agent, columns: Row = {}) =>
  insert("messages", {
    id: "m",
    session_id: "sess_1",
    agent_id: agent.id,
    inbox_id: "e1",
    platform: "channel_a",
    role: "user",
    content: "hello",
    created_at: 1,
    ...columns,
  });

async function stopped(): Promise<Agent> {
  // Removing the agents of earlier tests frees their session ids.
  for (const { id } of await harness.rows("SELECT id FROM agents")) await harness.services.agents.remove(String(id));
  const agent = await harness.agent();
  await harness.services.agents.setStatus(agent.id, "stopped");
  return agent;
}

test("a healthy agent with history: repair finds and changes nothing", async () => {
  const agent = await harness.agentWithHistory();
  const before = await harness.dumpBackup(agent);
  await expectRepairs(agent);
  expect(await harness.dumpBackup(agent)).toEqual(before);
});

describe("half turns", () => {
  test("tool calls without a result are removed from a reply, the others stay", async () => {
    const agent = await stopped();
    await session(agent, { message_count: 4 });
    const whole = { tool: "clock", input: "{}", result: "noon", ok: true };
    const half = { tool: "web_fetch", input: "{}" };
    const steps = [JSON.stringify([whole, half]), "[{", JSON.stringify([half]), JSON.stringify([whole])];
    for (const text of steps) await message(agent, { role: "assistant", steps: text, inbox_id: "x" });
    await expectRepairs(agent, /^3 replies with tool calls that have no result/);
    expect(
      (await harness.rows("SELECT steps FROM messages WHERE agent_id = ? ORDER BY seq", agent.id)).map((r) => r.steps),
    ).toEqual([JSON.stringify([whole]), null, null, JSON.stringify([whole])]);
  });

  test("an answered message that is still pending is not answered again", async () => {
    const agent = await stopped();
    await session(agent, { message_count: 2 });
    await entry(agent, "e1");
    await message(agent);
    await message(agent, { role: "assistant", content: "the reply" });
    await expectRepairs(agent, /^1 message that had been answered already/);
    expect(await inbox(agent)).toMatchObject([{ status: "done" }]);
    expect(
      await harness.one(
        "SELECT m.content FROM inbox i JOIN messages m ON m.seq = i.reply WHERE i.agent_id = ?",
        agent.id,
      ),
    ).toBe("the reply");
  });

  test("a question without a reply, whose message is still pending, is removed from the conversation", async () => {
    const agent = await stopped();
    await session(agent, { message_count: 1 });
    await entry(agent, "e1");
    await message(agent);
    await expectRepairs(agent, /^1 incomplete turn/, /^1 session with a wrong number/);
    expect(await messagesOf(agent)).toEqual([]);
    expect(await inbox(agent)).toMatchObject([{ status: "pending" }]);
  });

  test("the question of a cancelled or failed turn stays in the conversation", async () => {
    const agent = await stopped();
    await session(agent, { message_count: 2 });
    await entry(agent, "e1", { status: "cancelled" });
    await entry(agent, "e2", { status: "failed" });
    await message(agent);
    await message(agent, { inbox_id: "e2" });
    await expectRepairs(agent);
    expect(await messagesOf(agent)).toHaveLength(2);
  });
});

describe("messages that are stuck", () => {
  test("a parked message is run again, and is in the conversation once", async () => {
    const agent = await stopped();
    await harness.services.agents.setStatus(agent.id, "active");
    await session(agent, { message_count: 1 });
    await entry(agent, "e1", { status: "parked", attempts: 5, error: "MODEL_UNAVAILABLE", settled_at: 3 });
    await message(agent, { id: "e1", content: "content of e1" });
    const found = await repair(agent);
    expect(found).toContainEqual(expect.stringMatching(/^1 message that had been given up: will be tried again/));
    await eventually(async () => (await inbox(agent))[0]?.status === "done");
    expect((await messagesOf(agent)).map(({ role }) => role)).toEqual(["user", "assistant"]);
    expect((await messagesOf(agent)).at(-1)?.content).toContain("content of e1");
  });

  test("a message that was interrupted by many restarts gets all its attempts again", async () => {
    const agent = await stopped();
    await entry(agent, "e1", { attempts: 19 });
    await entry(agent, "e2", { attempts: 2 });
    await expectRepairs(agent, /^1 message about to be given up/);
    expect((await inbox(agent)).map(({ attempts }) => attempts)).toEqual([0, 2]);
  });

  test("a message whose session is missing gets the session again, and is answered in it", async () => {
    const agent = await stopped();
    await entry(agent, "e1", { platform: "web", peer: null, session_id: "sess_gone" });
    await entry(agent, "e2");
    await expectRepairs(agent, /^1 session missing for a pending message/);
    expect(await harness.rows("SELECT id, platform, peer, status FROM sessions WHERE agent_id = ?", agent.id)).toEqual([
      { id: "sess_gone", platform: "web", peer: null, status: "open" },
    ]);
    await harness.services.agents.setStatus(agent.id, "active");
    await eventually(async () => (await inbox(agent)).every(({ status }) => status === "done"));
  });
});

test("replies that failed for a temporary reason are sent again; refused and old ones are not", async () => {
  const agent = await stopped();
  const reply = (error: string, attempts: number, at = Date.now()) => {
    const id = Bun.randomUUIDv7("hex", at);
    return insert("outbox", {
      id,
      inbox_id: "e",
      agent_id: agent.id,
      platform: "nowhere",
      peer: id,
      body: "b",
      status: "failed",
      attempts,
      error,
      created_at: at,
    });
  };
  await reply("The platform can't be reached.", 40);
  await reply("The agent is stopped.", 1);
  await reply("Telegram is not connected any more.", 1);
  await reply("The chat was not found.", 1);
  await reply("The platform can't be reached.", 40, Date.now() - 8 * DAY);
  await expectRepairs(agent, /^3 replies that had not arrived/);
  // The outbox tries to deliver them, and fails: no plugin serves this platform.
  await eventually(async () => {
    const rows = await harness.rows("SELECT error FROM outbox WHERE agent_id = ? AND status = 'pending'", agent.id);
    return rows.length === 3 && rows.every(({ error }) => String(error).includes("Nothing delivers"));
  });
});

test("message counts are corrected, and summaries of messages that are not there are reset", async () => {
  const agent = await stopped();
  await session(agent, { message_count: 7 });
  await session(agent, { id: "sess_2", peer: "chat-2", summary: null, summary_upto: 1 });
  await session(agent, { id: "sess_3", peer: "chat-3", summary: "They met.", summary_upto: 999_999_999 });
  await message(agent);
  await expectRepairs(agent, /^1 session with a wrong number/, /^2 sessions whose summary/);
  expect(
    await harness.rows(
      "SELECT id, message_count AS n, summary_upto AS upto FROM sessions WHERE agent_id = ? ORDER BY id",
      agent.id,
    ),
  ).toEqual([
    { id: "sess_1", n: 1, upto: 0 },
    { id: "sess_2", n: 0, upto: 0 },
    { id: "sess_3", n: 0, upto: 0 },
  ]);
});

test("facts missing from the search index are added, and entries without a fact are deleted", async () => {
  const agent = await stopped();
  const { memories } = harness.services.skills;
  const { id } = await memories.remember({ agentId: agent.id, content: "The ship is called Ada", source: "owner" });
  const seq = Number(await harness.one("SELECT seq FROM memories WHERE id = ?", id));
  await harness.run("DELETE FROM memories_search WHERE rowid = ?", seq);
  await harness.run(
    "INSERT INTO memories_search (rowid, content, agent) VALUES (?, 'a ship that is gone', ?)",
    seq + 50,
    agent.id.replaceAll("-", ""),
  );
  await expectRepairs(agent, /search over memories: facts that were missing: 1, entries without one: 1/);
  expect((await memories.search(agent.id, "ship", 5)).map(({ id }) => id)).toEqual([id]);
  expect(await harness.one("SELECT count(*) FROM memories_search WHERE rowid = ?", seq + 50)).toBe(0);
});

test("a switch that enables a missing skill is deleted; one that disables it stays", async () => {
  const agent = await stopped();
  for (const [skill, enabled] of [
    ["gone", 1],
    ["away", 0],
    ["clock", 1],
  ] as const) {
    await insert("agent_skills", { agent_id: agent.id, skill_id: skill, enabled });
  }
  await expectRepairs(agent, /^the switch of gone/);
  expect(
    (await harness.rows("SELECT skill_id FROM agent_skills WHERE agent_id = ?", agent.id)).map((r) => r.skill_id),
  ).toEqual(["away", "clock"]);
});

test("an overdue reminder without a job is delivered after all", async () => {
  const agent = await stopped();
  await harness.services.agents.setStatus(agent.id, "active");
  await harness.remind(agent, "water the plants", Date.now() - 3_600_000);
  await harness.remind(agent, "still to come", Date.now() + DAY);
  expect(await repair(agent)).toEqual(["1 overdue reminder: scheduled again"]);
  await eventually(async () =>
    (await messagesOf(agent)).some(({ content }) => String(content).includes("water the plants")),
  );
  expect(await repair(agent)).not.toContainEqual(expect.stringContaining("reminder"));
});

test("a bot without its token is reported; expired pairing codes are deleted", async () => {
  const agent = await stopped();
  await harness.connect(agent, "bot-1");
  await harness.pair(agent, "expired", null);
  await harness.pair(agent, "approved");
  expect(await repair(agent)).toEqual(["1 pairing code past their time: removed"]);
  await harness.services.agents.credentials.set({ kind: "agent", id: agent.id }, "channel_a", "another:token");
  expect(await repair(agent)).toEqual(["Telegram: the token of @bot-1_bot is not here: connect it again"]);
  await harness.services.agents.credentials.set({ kind: "agent", id: agent.id }, "channel_a", "");
  expect(await repair(agent)).toEqual(["Telegram: the token of @bot-1_bot is not here: connect it again"]);
  expect(
    (await harness.rows("SELECT sender_id FROM pairings WHERE agent_id = ?", agent.id)).map((r) => r.sender_id),
  ).toEqual(["approved"]);
});

test("a credential that can't be opened is reported without its value", async () => {
  const agent = await stopped();
  await insert("credentials", {
    owner_kind: "agent",
    owner_id: agent.id,
    kind: "provider_4",
    sealed: "v1.00000000.c2VjcmV0",
    updated_at: 1,
  });
  expect(await repair(agent)).toEqual(["the credential provider_4 can't be opened with the key in use: set it again"]);
});
