// Tests the stores of agents, configurations and credentials as other plugins use them, over a file and over a server.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { fileDatabase, serverDatabase, type TestDatabase } from "../../tests/support/database.ts";
import { rejectionOf } from "../../tests/support/rejection.ts";
import { createServices, type Services } from "./support.test.ts";

describe.each([
  ["one process with a file", fileDatabase, "all"],
  ["a backend with a server", serverDatabase, "backend"],
] as const)("agents in %s", (_, open, role) => {
  let opened: TestDatabase;
  let it: Services;
  beforeAll(async () => {
    opened = await open();
    it = createServices(opened, role);
  });
  afterAll(() => opened.remove());

  test("are found by id; a text that is no id finds nothing", async () => {
    const { id } = await it.add(await it.owner());
    expect(await it.agents.find(id)).toMatchObject({ id, name: "Ada's agent" });
    for (const other of ["", "..", `${id}%2F..`, `${id}\0`, "sess_0123456789abcdef", Bun.randomUUIDv7(), " "]) {
      expect(await it.agents.find(other)).toBeUndefined();
    }
  });

  test("are listed newest first, only to their owner", async () => {
    const [ada, bob] = [await it.owner(), await it.owner()];
    const first = await it.add(ada, "First");
    const second = await it.add(ada, "Second");
    await it.add(bob, "Bob's");
    expect((await it.agents.list(ada)).map(({ id }) => id)).toEqual([second.id, first.id]);
  });

  test("the current one is the newest that is not stopped, else the newest", async () => {
    const ada = await it.owner();
    expect(await it.agents.resolveCurrent(ada)).toBeUndefined();
    const first = await it.add(ada, "First");
    expect(await it.agents.resolveCurrent(ada)).toMatchObject({ id: first.id });
    const second = await it.add(ada, "Second");
    expect(await it.agents.resolveCurrent(ada)).toMatchObject({ id: second.id });
    await it.agents.setStatus(second.id, "stopped");
    expect(await it.agents.resolveCurrent(ada)).toMatchObject({ id: first.id });
    await it.agents.setStatus(first.id, "stopped");
    expect(await it.agents.resolveCurrent(ada)).toMatchObject({ id: second.id, status: "stopped" });
    expect(await it.agents.resolveCurrent(ada, first.id)).toMatchObject({ id: first.id });
    await it.agents.remove(second.id);
    expect(await it.agents.resolveCurrent(ada)).toMatchObject({ id: first.id });
  });

  test("another user's agent and a missing one are the same 404", async () => {
    const [ada, bob] = [await it.owner(), await it.owner()];
    const { id } = await it.add(bob);
    const foreign = await rejectionOf(it.agents.resolveCurrent(ada, id));
    const missing = await rejectionOf(it.agents.resolveCurrent(ada, Bun.randomUUIDv7()));
    expect(foreign).toMatchObject({ status: 404, code: "AGENT_NOT_FOUND" });
    expect({ ...foreign, message: foreign.message }).toEqual({ ...missing, message: missing.message });
  });

  test("those that should be up and aren't, or that a runtime of another version began, are found, and only those", async () => {
    const ada = await it.owner();
    const add = async (name: string, runtimeVersion: string, status: "running" | "stopped" | "error") => {
      const { id } = await it.add(ada, name);
      await it.agents.setStatus(id, "running", { runtimeVersion });
      if (status !== "running") await it.agents.setStatus(id, status);
      return id;
    };
    const [old, older] = [await add("Old", "0.9.0", "running"), await add("Older", "0.8.0", "running")];
    const failed = await add("Failed", "1.0.0", "error");
    const fine = [await add("Fine", "1.0.0", "running"), await add("Stopped", "0.8.0", "stopped")];
    const found = async (versions: string[]) => {
      const ids = (await it.agents.listToReconcile(versions)).map(({ id }) => id);
      return ids.filter((id) => [old, older, failed, ...fine].includes(id)).sort();
    };
    expect(await found(["1.0.0"])).toEqual([old, older, failed].sort());
    expect(await found(["1.0.0", "0.9.0"])).toEqual([older, failed].sort());
    expect(await found(["1.0.0", "0.9.0", "0.8.0"])).toEqual([failed]);
  });

  test("a status is stored with the wanted status; listeners and events get each change once", async () => {
    const { id, startedAt } = await it.add(await it.owner());
    const notified: string[] = [];
    it.hooks.onChange((changed) => notified.push(changed));

    expect(await it.agents.setStatus(id, "error", { reason: "the bot's token was refused" })).toBe(true);
    expect(await it.agents.find(id)).toMatchObject({ statusReason: "the bot's token was refused", wanted: "up" });
    expect(await it.agents.setStatus(id, "stopped")).toBe(true);
    expect(await it.agents.setStatus(id, "stopped")).toBe(true);
    expect(await it.agents.find(id)).toMatchObject({
      status: "stopped",
      statusReason: null,
      wanted: "down",
      startedAt,
    });
    expect(await it.agents.setStatus(id, "active")).toBe(true);
    const up = await it.agents.find(id);
    expect(up).toMatchObject({ status: "active", wanted: "up" });
    expect(up?.startedAt).toBeGreaterThanOrEqual(startedAt ?? 0);

    expect(notified).toEqual([id, id, id]);
    const events = await it.events.since(0, { agentId: id, types: ["agent.status"] });
    expect(events.map(({ data }) => data)).toMatchObject([
      { status: "error", reason: "the bot's token was refused" },
      { status: "stopped", reason: null },
      { status: "active" },
    ]);
    expect(await it.agents.setStatus(Bun.randomUUIDv7(), "active")).toBe(false);
  });

  test("a removed agent leaves nothing but its event; other agents' rows stay", async () => {
    const ada = await it.owner();
    const [gone, stays] = [await it.add(ada, "Gone"), await it.add(ada, "Stays")];
    for (const { id } of [gone, stays]) {
      await it.credentials.set({ kind: "agent", id }, "provider_1", "sk-secret");
      it.logs.add(id, "info", "hello", "test");
    }
    await it.logs.flush();
    const notified: string[] = [];
    it.hooks.onDelete((id) => void notified.push(id));

    expect(await it.agents.remove(gone.id)).toBe(true);
    expect(await it.agents.remove(gone.id)).toBe(false);
    expect(notified).toEqual([gone.id]);
    expect(await it.agents.find(gone.id)).toBeUndefined();
    const left = async (id: string) => {
      const tables = ["agent_configs WHERE agent_id", "agent_logs WHERE agent_id", "credentials WHERE owner_id"];
      const counts = await Promise.all(tables.map((t) => it.database.read(`SELECT count(*) AS n FROM ${t} = ?`, [id])));
      return counts.map(({ rows }) => rows[0]?.n);
    };
    expect(await left(gone.id)).toEqual([0, 0, 0]);
    expect(await left(stays.id)).toEqual([1, 1, 1]);
    expect(await it.events.since(0, { agentId: gone.id, types: ["agent.deleted"] })).toHaveLength(1);
  });

  test("deleting an account deletes its agents and credentials", async () => {
    const ada = await it.owner();
    const { id } = await it.add(ada);
    await it.credentials.set({ kind: "agent", id }, "provider_1", "sk-secret");
    await it.credentials.set({ kind: "user", id: ada }, "provider_1", "sk-secret");
    await it.database.write([{ sql: "DELETE FROM users WHERE id = ?", args: [ada] }]);
    const { rows } = await it.database.read("SELECT owner_id FROM credentials WHERE owner_id IN (?, ?)", [ada, id]);
    expect(rows).toEqual([]);
  });

  describe("their configuration", () => {
    const odd =
      '{ "2": 1,\t"1": 1.50, "__proto__": {"a": 1}, "é": "\\u00e9", "big": 12345678901234567890, "a":1,"a":2 }\n';

    test("is returned byte for byte, and its versions are numbered", async () => {
      const { id } = await it.add(await it.owner());
      expect(await it.configs.text(id)).toBe("{}");
      await it.configs.save(id, odd);
      expect(await it.configs.text(id)).toBe(odd);
      for (let n = 0; n < 25; n++) await it.configs.save(id, `{"n":${n}}`);
      const { rows } = await it.database.read("SELECT version FROM agent_configs WHERE agent_id = ? ORDER BY 1", [id]);
      expect(rows.map(({ version }) => version)).toEqual(Array.from({ length: 20 }, (_, n) => n + 8));
      expect(await it.configs.text(id)).toBe('{"n":24}');
    });

    test("is read as settings, which change with each write", async () => {
      const { id } = await it.add(await it.owner());
      expect(await it.configs.settings(id)).toEqual({});
      await it.configs.save(id, '{"temperature":1}');
      expect(await it.configs.settings(id)).toEqual({ temperature: 1 });
      expect((await rejectionOf(it.configs.save(id, '{"temperature":"hot"}'))).status).toBe(400);
      expect(await it.configs.settings(id)).toEqual({ temperature: 1 });
    });

    test("counts as imported in each copy of an imported version, until the owner saves one", async () => {
      const userId = await it.owner();
      const config = '{"temperature":1}';
      const { id } = await it.provision({ userId, isAdmin: true, name: "Tug", config, imported: true });
      const isImported = async () => [(await it.configs.settings(id)).imported ?? false, (await marks())[0]];
      const marks = async () => (await it.configs.versions(id)).map(({ imported }) => imported);
      await it.configs.save(id, "{}");
      expect(await isImported()).toEqual([false, false]);
      expect(await it.configs.restore(id, 1)).toBe(config);
      expect(await it.configs.text(id)).toBe(config);
      expect(await isImported()).toEqual([true, true]);
      await it.configs.saveRepaired(id, '{"temperature":0}');
      expect(await isImported()).toEqual([true, true]);
      await it.configs.restore(id, 2);
      expect(await isImported()).toEqual([false, false]);
      await it.configs.saveRepaired(id, '{"temperature":0}');
      expect(await marks()).toEqual([false, false, true, true, false, true]);
      expect(await rejectionOf(it.configs.restore(id, 9))).toMatchObject({ code: "VERSION_NOT_FOUND" });
    });

    test("can't be saved for a missing agent", async () => {
      expect(await rejectionOf(it.configs.save(Bun.randomUUIDv7(), "{}"))).toMatchObject({ status: 404 });
    });
  });
});

test("in one process an agent, its settings and credentials are loaded once", async () => {
  const opened = await fileDatabase();
  const it = createServices(opened);
  const userId = await it.owner();
  const { id } = await it.add(userId);
  await it.configs.settings(id);
  await it.credentials.set({ kind: "agent", id }, "provider_1", "sk-secret");
  await it.credentials.open(id, "provider_1");
  await it.agents.resolveCurrent(userId);
  await it.agents.find(id);
  await it.configs.settings(id);
  await opened.remove();

  // The database is closed, so these come from the cache.
  expect(await it.agents.find(id)).toMatchObject({ id });
  expect(await it.agents.resolveCurrent(userId)).toMatchObject({ id });
  expect(await it.configs.settings(id)).toEqual({});
  expect(await it.credentials.open(id, "provider_1")).toBe("sk-secret");
});
