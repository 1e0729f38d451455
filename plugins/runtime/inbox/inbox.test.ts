// Tests inbox and sessions over a database file: messages are stored and settled once, and caches match the database.

import { afterEach, beforeEach, describe, expect, setSystemTime, test } from "bun:test";
import { GuardFailed, guard } from "../../../src/kernel/database/database.ts";
import { fileDatabase, serverDatabase, type TestDatabase } from "../../../tests/support/database.ts";
import { seeded } from "../../../tests/support/eventually.ts";
import { insertAgent } from "../../../tests/support/records.ts";
import { MAX_HISTORY } from "../sessions/history.ts";
import { createSessions, type Sessions } from "../sessions/sessions.ts";
import { conversationKey, type InboundMessage, type InboxEntry } from "./entries.ts";
import { createInbox, type Inbox } from "./inbox.ts";

let store: TestDatabase;
let sessions: Sessions;
let inbox: Inbox;
let agentId: string;
beforeEach(async () => {
  store = await fileDatabase();
  sessions = createSessions(store);
  inbox = createInbox({ ...store, sessions, uploads: { useStatements: () => [] }, recordTurn: () => undefined });
  agentId = await insertAgent(store.database);
});
afterEach(async () => {
  setSystemTime();
  await store.remove();
});

const arrival = (content: string, more: Partial<InboundMessage> = {}): InboundMessage => ({
  agentId,
  platform: "channel_a",
  to: { peer: "chat-1" },
  sender: { id: "7", name: "Bob" },
  byOwner: false,
  content,
  ...more,
});
const count = async (table: string) =>
  Number((await store.database.read(`SELECT count(*) AS n FROM ${table}`)).rows[0]?.n);
const contents = (entries: readonly InboxEntry[]) => entries.map(({ content }) => content);

/** Writes a settled turn. */
function turn(entry: InboxEntry, reply: string) {
  const { id: inboxId, sessionId: id, agentId: of, platform } = entry;
  const at = Date.now();
  return store.database.write([
    ...sessions.appendStatements({ id, agentId: of, platform, inboxId }, [
      { id: inboxId, role: "user", content: entry.content, taint: 0, at },
      { id: Bun.randomUUIDv7(), role: "assistant", content: reply, taint: 0, at },
    ]),
    inbox.settleStatement(entry, "done"),
    guard("settled"),
  ]);
}
const one = (entries: readonly InboxEntry[]): InboxEntry => {
  const [entry] = entries;
  if (!entry) throw new Error("Nothing was stored.");
  return entry;
};

describe("accepting", () => {
  test("stores a message as pending", async () => {
    const entry = one(await inbox.accept([arrival("Hello", { platformMessageId: "1", group: true })]));
    expect(await inbox.listPending(agentId, 10)).toEqual([entry]);
    expect(entry).toMatchObject({
      content: "Hello",
      isGroup: true,
      byOwner: false,
      kind: "message",
      attempts: 0,
      peer: "chat-1",
    });
    expect(await inbox.agentsWithPending()).toEqual([agentId]);
  });

  test("a second delivery is dropped: alone, in the same batch, and in parallel", async () => {
    const same = arrival("Hello", { platformMessageId: "1" });
    const batches = await Promise.all([inbox.accept([same, same]), inbox.accept([same]), inbox.accept([same])]);
    expect(batches.map(({ length }) => length)).toEqual([1, 0, 0]);
    expect(await inbox.accept([same])).toEqual([]);
    expect(await count("inbox")).toBe(1);
  });

  test("the same id for another agent or platform is another message", async () => {
    const other = await insertAgent(store.database);
    const same = { platformMessageId: "1" };
    const stored = await Promise.all([
      inbox.accept([arrival("a", same)]),
      inbox.accept([arrival("b", { ...same, platform: "channel_b" })]),
      inbox.accept([arrival("c", { ...same, agentId: other })]),
    ]);
    expect(stored.flat()).toHaveLength(3);
  });

  test("messages without ids are never duplicates", async () => {
    expect(await inbox.accept([arrival("a"), arrival("a"), arrival("a")])).toHaveLength(3);
  });

  test("returns only new entries, in order", async () => {
    await inbox.accept([arrival("2", { platformMessageId: "2" })]);
    const batch = ["1", "2", "3"].map((id) => arrival(id, { platformMessageId: id }));
    expect(contents(await inbox.accept(batch))).toEqual(["1", "3"]);
  });

  test("a batch with a message for a deleted agent stores none", async () => {
    const batch = [arrival("a"), arrival("b", { agentId: Bun.randomUUIDv7(), to: { peer: "x" } })];
    await expect(inbox.accept(batch)).rejects.toThrow();
    expect(await count("inbox")).toBe(0);
    expect(await inbox.accept([arrival("c")])).toHaveLength(1);
  });

  test("calls beforeStore before the entry is in the database", async () => {
    const seen: number[] = [];
    const stored = await inbox.accept([arrival("a")], async (entry) => {
      seen.push((await inbox.listPending(agentId, 10)).length);
      expect(entry.content).toBe("a");
    });
    expect(seen).toEqual([0]);
    expect(stored).toHaveLength(1);
  });

  test("ids are in the order of the commits", async () => {
    const slow = inbox.accept([arrival("new chat", { to: { peer: "never seen" } })]);
    const quick = inbox.accept([arrival("by id", { to: { sessionId: (await sessions.create(agentId, "web")).id } })]);
    const [a, b] = [one(await slow), one(await quick)];
    const order = (await store.database.read("SELECT id FROM inbox ORDER BY id")).rows.map(({ id }) => String(id));
    expect(order).toEqual([a.id, b.id].toSorted());
    expect(contents(await inbox.listPending(agentId, 10))).toEqual(["new chat", "by id"]);
  });

  test("statements store the message with the caller's batch or not at all", async () => {
    const stored: InboxEntry[] = [];
    const reminder = arrival("Tea!", { platformMessageId: "reminder:1", kind: "reminder" });
    const failing = [
      ...(await inbox.acceptStatements(reminder, (entry) => void stored.push(entry))).statements,
      guard("x"),
      { sql: "BROKEN", args: [] },
    ];
    await store.database.write(failing).catch(() => undefined);
    expect(stored).toEqual([]);
    for (let n = 0; n < 2; n++) {
      await store.database.write(
        (await inbox.acceptStatements(reminder, (entry) => void stored.push(entry))).statements,
      );
    }
    expect(contents(stored)).toEqual(["Tea!"]);
  });

  test("a lane is a conversation over all its sessions, or a session without a peer", () => {
    const entry = { platform: "channel_a", peer: "chat-1", sessionId: "s" } as InboxEntry;
    expect(conversationKey(entry)).toBe(conversationKey({ ...entry, sessionId: "t" }));
    expect(conversationKey(entry)).not.toBe(conversationKey({ ...entry, platform: "channel_b" }));
    expect(conversationKey({ ...entry, peer: null })).toBe("s");
  });
});

describe("settling", () => {
  test("twice fails by the guard, and nothing of the second turn is stored", async () => {
    const entry = one(await inbox.accept([arrival("Hello")]));
    await turn(entry, "first");
    await expect(turn(entry, "second")).rejects.toBeInstanceOf(GuardFailed);
    expect(await count("messages")).toBe(2);
    expect((await sessions.history(entry.sessionId)).recent.map(({ content }) => content)).toEqual(["Hello", "first"]);
    expect(await inbox.listPending(agentId, 10)).toEqual([]);
  });

  test("in parallel succeeds once", async () => {
    const entry = one(await inbox.accept([arrival("Hello")]));
    const ended = await Promise.allSettled([turn(entry, "a"), turn(entry, "b"), turn(entry, "c")]);
    expect(ended.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "rejected"]);
    expect(await count("messages")).toBe(2);
  });

  test("messages over the API are listed newest first, with reply and status", async () => {
    const api = { platform: "api" as const, to: { peer: "topic:x" }, topic: "x" };
    const entries = [];
    for (const text of ["a", "b", "c"]) entries.push(one(await inbox.accept([arrival(text, api)])));
    const [a, b] = entries;
    if (a) await turn(a, "reply to a");
    if (b) await store.database.write([inbox.settleStatement(b, "failed", "MODEL_UNAVAILABLE")]);
    await inbox.accept([
      arrival("elsewhere", { platform: "api", to: { peer: "topic:y" }, topic: "y" }),
      arrival("in a chat"),
    ]);
    const sent = (topic?: string, offset = 0) => inbox.listSentMessages(agentId, { limit: 2, offset, topic });
    const summaryOf = (list: Awaited<ReturnType<typeof sent>>) =>
      list.map(({ message, status, reply }) => [message, status, reply]);
    expect(summaryOf(await sent())).toEqual([
      ["elsewhere", "pending", null],
      ["c", "pending", null],
    ]);
    expect(summaryOf(await sent("x"))).toEqual([
      ["c", "pending", null],
      ["b", "failed", null],
    ]);
    expect(summaryOf(await sent("x", 2))).toEqual([["a", "done", "reply to a"]]);
    expect(await sent("z")).toEqual([]);
    for (const topic of [undefined, "x"]) {
      const [, cursor] = await sent(topic);
      const before = await inbox.listSentMessages(agentId, { limit: 2, offset: 0, cursor: cursor?.id, topic });
      expect(before).toEqual(await sent(topic, 2));
    }
  });

  test("tries are stored; a start counts one for entries that may have been running, of the given agents", async () => {
    const other = await insertAgent(store.database);
    const chats = ["1", "2", "3", "4", "5"].map((peer) => arrival(peer, { to: { peer } }));
    const [first] = await inbox.accept([...chats, arrival("behind", { to: { peer: "1" } })]);
    await inbox.accept([arrival("other", { agentId: other })]);
    if (first) await store.database.write(inbox.saveAttemptsStatements([{ ...first, attempts: 3 }]));
    await store.database.write([inbox.countInterruptedStatement([agentId], 4)]);
    const attempts = async (of: string) => (await inbox.listPending(of, 10)).map((entry) => entry.attempts);
    expect(await attempts(agentId)).toEqual([4, 1, 1, 1, 0, 0]);
    expect(await attempts(other)).toEqual([0]);
  });
});

describe("sessions", () => {
  test("first messages in parallel open one session", async () => {
    const accepted = await Promise.all(Array.from({ length: 20 }, (_, n) => inbox.accept([arrival(`${n}`)])));
    expect(new Set(accepted.flat().map(({ sessionId }) => sessionId)).size).toBe(1);
    expect(await count("sessions")).toBe(1);
    expect(one(accepted.flat()).sessionId).toMatch(/^sess_[0-9a-f]{16}$/);
  });

  test("each chat, platform and agent has a separate session", async () => {
    const other = await insertAgent(store.database);
    const batch = [
      arrival("1"),
      arrival("2", { to: { peer: "chat-2" } }),
      arrival("3", { platform: "channel_b" }),
      arrival("4", { agentId: other }),
    ];
    expect(new Set((await inbox.accept(batch)).map(({ sessionId }) => sessionId)).size).toBe(4);
  });

  test("a failed write opens no session; the next message does", async () => {
    const gone = arrival("lost", { agentId: Bun.randomUUIDv7() });
    await inbox.accept([gone]).catch(() => undefined);
    expect(await count("sessions")).toBe(0);
    expect(await inbox.accept([arrival("Hello")])).toHaveLength(1);
  });

  test("after completion the next message opens another session, also for a new process", async () => {
    const old = one(await inbox.accept([arrival("Hello")]));
    await turn(old, "Hi");
    await store.database.write([sessions.completeStatement(agentId, "channel_a", "chat-1", old.sessionId)]);
    const [first, second] = await Promise.all([inbox.accept([arrival("Again")]), inbox.accept([arrival("And again")])]);
    const fresh = one(first);
    expect(fresh.sessionId).not.toBe(old.sessionId);
    expect(one(second).sessionId).toBe(fresh.sessionId);
    expect((await sessions.history(fresh.sessionId)).recent).toEqual([]);
    const elsewhere = createSessions(store);
    expect((await elsewhere.findOrOpen(agentId, "channel_a", "chat-1")).id).toBe(fresh.sessionId);
    const statuses = (await sessions.list(agentId)).map(({ id, status }) => [id, status]);
    expect(Object.fromEntries(statuses)).toEqual({ [old.sessionId]: "completed", [fresh.sessionId]: "active" });
  });

  test("visitors' sessions are not listed, but count for the last activity", async () => {
    expect(await sessions.lastActivity(agentId)).toBeUndefined();
    const { id, lastActivity } = await sessions.create(agentId, "web");
    const visitors = `INSERT INTO sessions (id, agent_id, platform, peer, created_at, last_activity_at)
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 510)
      SELECT 'sess_' || i, ?1, 'public', 'visitor:' || i, ?2 + i, ?2 + i FROM n`;
    await store.database.write([{ sql: visitors, args: [agentId, lastActivity] }]);
    expect((await sessions.list(agentId)).map((one) => one.id)).toEqual([id]);
    expect(await sessions.lastActivity(agentId)).toBe(lastActivity + 510);
  });

  test("are read again after they were written elsewhere", async () => {
    const entry = one(await inbox.accept([arrival("Hello", { platform: "public" })]));
    await turn(entry, "Hi");
    expect((await sessions.history(entry.sessionId)).recent).toHaveLength(2);
    await store.database.write([{ sql: "DELETE FROM messages WHERE agent_id = ?", args: [agentId] }]);
    sessions.invalidateAgent(agentId);
    expect((await sessions.history(entry.sessionId)).recent).toEqual([]);
  });

  test("a session is idle after half an hour, and active again with the next message", async () => {
    const { id } = await sessions.create(agentId, "web");
    const status = async () => (await sessions.find(agentId, id))?.status;
    expect(await status()).toBe("active");
    expect((await sessions.findActive(agentId))?.id).toBe(id);
    const start = Date.now();
    setSystemTime(start + 30 * 60_000 - 1_000);
    expect(await status()).toBe("active");
    setSystemTime(start + 30 * 60_000 + 1_000);
    expect(await status()).toBe("idle");
    expect(await sessions.findActive(agentId)).toBeUndefined();
    await turn(one(await inbox.accept([arrival("Hello", { platform: "web", to: { sessionId: id } })])), "Hi");
    expect(await status()).toBe("active");
    expect((await sessions.findActive(agentId))?.messageCount).toBe(2);
  });

  test("the active session is the newest of the web, not of a channel", async () => {
    await sessions.create(agentId, "web");
    setSystemTime(Date.now() + 1_000);
    const newest = await sessions.create(agentId, "web");
    await inbox.accept([arrival("In a chat")]);
    expect((await sessions.findActive(agentId))?.id).toBe(newest.id);
  });

  test("a session of another agent is not found", async () => {
    const { id } = await sessions.create(agentId, "web");
    expect(await sessions.find(await insertAgent(store.database), id)).toBeUndefined();
    expect(await sessions.find(agentId, "sess_0000000000000000")).toBeUndefined();
  });

  test("a session has the count of its messages and the time of the last", async () => {
    const entry = one(await inbox.accept([arrival("Hello")]));
    setSystemTime(Date.now() + 5_000);
    await turn(entry, "Hi");
    const session = await sessions.find(agentId, entry.sessionId);
    expect(session).toMatchObject({ messageCount: 2, lastActivity: Date.now() });
    expect((await sessions.messages(entry.sessionId, 10)).map(({ role, content }) => [role, content])).toEqual([
      ["user", "Hello"],
      ["assistant", "Hi"],
    ]);
  });
});

describe("history", () => {
  test("in the cache matches the database after many turns, summaries, resets and evictions", async () => {
    const chance = seeded();
    const peers = ["a", "b", "c"];
    // Too long for the cache of 16 million characters, so that it evicts some.
    const big = "x".repeat(100_000);
    try {
      for (let step = 0; step < 250; step++) {
        const peer = chance.pick(peers);
        const entry = one(
          await inbox.accept([arrival(chance.chance(0.7) ? big : `message ${step}`, { to: { peer } })]),
        );
        if (chance.chance(0.5)) await sessions.history(entry.sessionId);
        await turn(entry, chance.chance(0.7) ? big : `reply ${step}`);
        if (chance.chance(0.03)) {
          const { recent } = await sessions.history(entry.sessionId);
          await sessions.saveSummary(
            entry.sessionId,
            `summary ${step}`,
            recent[chance.integer(0, recent.length - 1)]?.seq ?? 0,
            0,
          );
        }
        if (chance.chance(0.02)) {
          await store.database.write([sessions.completeStatement(agentId, "channel_a", peer, entry.sessionId)]);
        }
        const inMemory = await sessions.history(entry.sessionId);
        const inDatabase = await createSessions(store).history(entry.sessionId);
        expect(inMemory).toEqual(inDatabase);
        expect(inMemory.recent.length).toBeLessThanOrEqual(MAX_HISTORY);
      }
    } catch (error) {
      throw new Error(`seed ${chance.seed}`, { cause: error });
    }
  });

  test("text is read as it was stored, without characters that can't be stored", async () => {
    const sender = { id: "7", name: "B\u0000ob\ud800" };
    const text = "🦊 'quotes' \" \\ \n\t ; DROP TABLE messages; --";
    const entry = one(await inbox.accept([arrival(`${text}\u0000\udfff`, { sender })]));
    await turn(entry, "🦊");
    const again = await createSessions(store).history(entry.sessionId);
    expect(again.recent.map(({ content }) => content)).toEqual([`${text}\ufffd`, "🦊"]);
    expect(entry.senderName).toBe("Bob\ufffd");
  });
});

test("works the same over a libSQL server", async () => {
  const server = await serverDatabase();
  try {
    sessions = createSessions(server);
    inbox = createInbox({ ...server, sessions, uploads: { useStatements: () => [] }, recordTurn: () => undefined });
    agentId = await insertAgent(server.database);
    const api = { platform: "api" as const, to: { peer: "topic:x" }, platformMessageId: "1" };
    const same = arrival("Hello", api);
    const stored = (await Promise.all([inbox.accept([same]), inbox.accept([same])])).flat();
    expect(stored).toHaveLength(1);
    const entry = one(stored);
    await server.database.write([
      inbox.countInterruptedStatement([agentId], 4),
      ...inbox.saveAttemptsStatements([{ ...entry, attempts: 2 }]),
    ]);
    expect(await inbox.listPending(agentId, 10)).toMatchObject([{ content: "Hello", attempts: 2 }]);
    const settle = (text: string) => {
      const replyMessage = {
        id: Bun.randomUUIDv7(),
        role: "assistant" as const,
        content: text,
        taint: 0 as const,
        at: Date.now(),
      };
      const to = { id: entry.sessionId, agentId, platform: "api", inboxId: entry.id };
      return server.database.write([
        ...sessions.appendStatements(to, [replyMessage]),
        inbox.settleStatement(entry, "done"),
        guard("settled"),
      ]);
    };
    await settle("Hi");
    await expect(settle("Hi again")).rejects.toBeInstanceOf(GuardFailed);
    expect(await inbox.listSentMessages(agentId, { limit: 5, offset: 0 })).toMatchObject([
      { message: "Hello", reply: "Hi" },
    ]);
    const inMemory = await sessions.history(entry.sessionId);
    expect(inMemory.recent.map(({ content }) => content)).toEqual(["Hi"]);
    expect(await createSessions(server).history(entry.sessionId)).toEqual(inMemory);
  } finally {
    await server.remove();
  }
});
