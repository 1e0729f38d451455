// Tests events: listeners get each one once, in order, after its commit, and it can be read later.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { fileDatabase, serverDatabase, silent, type TestDatabase } from "../../../tests/support/database.ts";
import { createWatch } from "../../../tests/support/eventually.ts";
import type { Database } from "../database/database.ts";
import { deleteInBatches } from "../retention/deletion.ts";
import { createEvents, type Event, type Events } from "./events.ts";
import { eventsKind } from "./events-retention.ts";

const DAY = 24 * 3_600_000;

describe.each([
  ["a local file", fileDatabase],
  ["a libSQL server", serverDatabase],
] as const)("events in %s", (_, open) => {
  let opened: TestDatabase;
  let database: Database;
  let events: Events;
  let time: number;
  const heard: Event[] = [];
  const watch = createWatch();
  const listen = (event: Event) => {
    heard.push(event);
    watch.changed();
  };
  const make = () => createEvents({ database, log: silent, now: () => time });

  beforeEach(async () => {
    opened = await open();
    database = opened.database;
    time = Date.now();
    events = make();
    heard.length = 0;
  });
  afterEach(() => opened.remove());

  test("listeners get committed events in order, and no others", async () => {
    const end = events.subscribe(listen);
    await database.write([
      events.recordStatement("agent.created", { userId: "u", agentId: "a", data: { name: "Ada" } }),
      events.recordStatement("agent.status", { agentId: "a", data: null }),
    ]);
    await database
      .write([events.recordStatement("agent.lost", { data: {} }), { sql: "INSERT INTO nowhere VALUES (1)", args: [] }])
      .catch(() => undefined);
    await database.write([events.recordStatement("agent.deleted", { data: {} })]);
    await watch.waitFor(() => heard.length === 3);
    expect(heard.map((event) => event.type)).toEqual(["agent.created", "agent.status", "agent.deleted"]);
    expect(heard[0]).toEqual({
      seq: heard[0]?.seq ?? 0,
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      type: "agent.created",
      userId: "u",
      agentId: "a",
      data: { name: "Ada" },
      createdAt: time,
    });
    expect(await events.since(0)).toEqual(heard);
    end();
    await database.write([events.recordStatement("agent.created", { data: {} })]);
    expect(heard).toHaveLength(3);
  });

  test("an event of a long batch has its number too, and the next one follows it", async () => {
    events.subscribe(listen);
    await database.writeLong([
      events.recordStatement("agent.created", { userId: "u", data: { name: "imported" } }),
      { sql: "INSERT INTO meta VALUES ('after', ?)", args: ["x"] },
    ]);
    await database.write([events.recordStatement("agent.created", { userId: "u", data: { name: "created" } })]);
    await watch.waitFor(() => heard.length === 2);
    expect(heard).toEqual(await events.since(0));
    expect(heard.map(({ data }) => data)).toEqual([{ name: "imported" }, { name: "created" }]);
  });

  test("a listener gets no earlier events, and a throwing one does not affect others", async () => {
    await database.write([events.recordStatement("early", { data: 1 })]);
    events.subscribe(() => {
      throw new Error("boom");
    });
    events.subscribe(listen);
    await database.write([events.recordStatement("late", { data: 2 })]);
    await watch.waitFor(() => heard.length === 1);
    expect(heard[0]?.data).toBe(2);
  });

  test("reading resumes after a number, filtered by user, agent and type", async () => {
    for (const [type, userId, agentId] of [
      ["x", "u", "a"],
      ["y", "u", "b"],
      ["x", "v", "c"],
      ["x", "u", "a"],
    ] as const) {
      await database.write([events.recordStatement(type, { userId, agentId, data: null })]);
    }
    const all = await events.since(0);
    const numbers = all.map((event) => event.seq);
    const [first = 0, second = 0, third = 0, fourth = 0] = numbers;
    expect(numbers).toEqual([...numbers].sort((a, b) => a - b));
    expect(await events.latest()).toBe(fourth);
    const seqs = async (...args: Parameters<Events["since"]>) =>
      (await events.since(...args)).map((event) => event.seq);
    expect(await seqs(first)).toEqual([second, third, fourth]);
    expect(await seqs(0, { userId: "u" })).toEqual([first, second, fourth]);
    expect(await seqs(first, { userId: "u", agentId: "a" })).toEqual([fourth]);
    expect(await seqs(0, { types: ["y", "z"] })).toEqual([second]);
    expect(await seqs(0, { limit: 2 })).toEqual([first, second]);
    expect(await seqs(fourth)).toEqual([]);
  });

  test("events older than 30 days are deleted, and numbers are never reused", async () => {
    time -= 31 * DAY;
    await database.write(Array.from({ length: 2_500 }, () => events.recordStatement("old", { data: null })));
    const last = await events.latest();
    const { steps } = eventsKind(database, 30 * DAY);
    expect(await deleteInBatches(steps, time - 30 * DAY, { isRemote: database.file === undefined })).toBe(0);
    time += 31 * DAY;
    expect(await deleteInBatches(steps, time - 30 * DAY, { isRemote: database.file === undefined })).toBe(2_499);
    expect((await events.since(0)).map(({ seq }) => seq)).toEqual([last]);
    await database.write([events.recordStatement("new", { data: null })]);
    expect(await events.latest()).toBe(last + 1);
  });
});

test("on a shared server a listener gets the events of other processes", async () => {
  const { database, remove } = await serverDatabase();
  const make = () => createEvents({ database, log: silent });
  const here = make();
  const there = make();
  const heard: unknown[] = [];
  const watch = createWatch();
  await database.write([there.recordStatement("before", { data: null })]);
  here.subscribe((event) => {
    heard.push(event.data);
    watch.changed();
  });
  await database.write([here.recordStatement("own", { data: 1 })]);
  await watch.waitFor(() => heard.length === 1);
  await database.write([there.recordStatement("other", { data: 2 })]);
  await database.write([here.recordStatement("own", { data: 3 })]);
  await watch.waitFor(() => heard.length === 3);
  expect(heard).toEqual([1, 2, 3]);
  await remove();
});
