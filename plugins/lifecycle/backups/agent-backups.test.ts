// Tests backups: their content, and that a restore brings back the whole agent or changes nothing.
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { gunzipSync, gzipSync } from "node:zlib";
import { DAY } from "../../../src/kernel/util/time.ts";
import { eventually } from "../../../tests/support/eventually.ts";
import { rejectionOf } from "../../../tests/support/rejection.ts";
import { startSqld } from "../../../tests/support/sqld.ts";
import type { Agent } from "../../agents/index.ts";
import { ai } from "../../ai/index.ts";
import { MAX_BACKUPS } from "./backup-store.ts";
import { type Harness, openHarness } from "./support.test.ts";

let harness: Harness;
beforeAll(async () => {
  harness = await openHarness();
});
afterAll(() => harness[Symbol.asyncDispose]());
afterEach(() => {
  harness.writing.check = () => undefined;
});

/** Only checks the backup. */
const keep = (agentId: string, path: string) => harness.backups.withBackup(agentId, path, async () => undefined);

describe("a backup", () => {
  test("is a file in the agent's folder that only the operator can read; it has all parts and no secret in clear", async () => {
    const agent = await harness.agentWithHistory();
    const { path } = await harness.backups.write(agent.id);
    expect(path).toMatch(
      new RegExp(`^backups/${agent.id}/\\d{4}-\\d\\d-\\d\\dT\\d\\d-\\d\\d-\\d\\d-\\d{3}Z\\.json\\.gz$`),
    );
    expect(statSync(harness.file(path)).mode & 0o777).toBe(0o600);
    expect(statSync(harness.file(`backups/${agent.id}`)).mode & 0o777).toBe(0o700);
    expect(readdirSync(harness.file(`backups/${agent.id}`))).toEqual([path.split("/")[2] ?? ""]);

    const text = gunzipSync(readFileSync(harness.file(path))).toString();
    const [header, ...parts] = JSON.parse(text);
    expect(header).toMatchObject({ format: "berth.backup", version: 1, agentId: agent.id });
    const names = parts.map(({ part }: { part?: string }) => part);
    for (const name of ["agent", "configs", "credentials", "switches", "memories", "reminders", "sessions"]) {
      expect(names).toContain(name);
    }
    for (const name of ["connections", "pairings", "messages"]) expect(names).toContain(name);
    expect(text).toContain("The ship is called Ada");
    for (const secret of ["sk-test", `bot-${agent.id}:token`, "sk-secret-of-ada"]) expect(text).not.toContain(secret);
  });
});

describe("a restore", () => {
  test("after a memory reset brings everything back, and the agent continues from there", async () => {
    const agent = await harness.agentWithHistory();
    const before = await harness.dumpBackup(agent);
    const session = (await harness.services.runtime.sessions.list(agent.id)).find(({ platform }) => platform === "web");
    const { path } = await harness.backups.write(agent.id);
    await harness.services.runtime.whileQuiesced(agent.id, () => harness.backups.eraseMemory(agent.id));
    expect(await harness.dumpBackup(agent)).toMatchObject({ messages: [], sessions: [], memories: [], reminders: [] });
    // Another agent's messages get the freed numbers meanwhile.
    await harness.chat(await harness.agent(), "hello");

    await harness.services.runtime.whileQuiesced(agent.id, () => harness.backups.restore(agent.id, path));
    expect(await harness.dumpBackup(agent)).toEqual(before);
    expect((await harness.services.skills.memories.search(agent.id, "ship", 3)).map(({ content }) => content)).toEqual([
      "The ship is called Ada",
    ]);
    await harness.chat(agent, "what did I say?", { sessionId: session?.id ?? "" });
    const asked =
      harness.upstream.chats
        .at(-1)
        ?.messages.map(({ content }) => JSON.stringify(content))
        .join() ?? "";
    expect(asked).toContain("three 🚢");
  });

  test("after everything was changed brings everything back but the status", async () => {
    const agent = await harness.agentWithHistory();
    const { agents, skills, runtime } = harness.services;
    const before = await harness.dumpBackup(agent);
    const { path } = await harness.backups.write(agent.id);
    const own = { kind: "agent", id: agent.id } as const;
    await agents.saveConfig(agent.id, `{"model":"provider_5:fake-large"}`);
    await agents.credentials.set(own, "provider_5", "sk-other");
    await agents.credentials.set(own, "provider_1", "sk-new");
    await skills.setEnabled(agent.id, "clock", true);
    await skills.memories.remember({ agentId: agent.id, content: "Forget me", source: "owner" });
    await agents.credentials.set(own, "provider_5", "sk-test");
    await harness.chat(agent, "later");
    await harness.remind(agent, "later", Date.now() + DAY);
    await harness.run(
      "UPDATE agents SET name = 'Other', model = 'model_a', tier = 'pro', runtime_version = '9.9.9' WHERE id = ?",
      agent.id,
    );
    await agents.setStatus(agent.id, "stopped");
    const changed: string[] = [];
    agents.onChange((id) => changed.push(id));

    await runtime.whileQuiesced(agent.id, () => harness.backups.restore(agent.id, path));
    expect(await harness.dumpBackup(agent)).toEqual(before);
    expect(changed).toContain(agent.id);
    expect(await agents.find(agent.id)).toMatchObject({
      name: "Harbour",
      model: "custom",
      tier: null,
      status: "stopped",
    });
    expect(await agents.settings(agent.id)).toMatchObject({ model: "provider_5:fake-small" });
    expect(await agents.credentials.open(agent.id, "provider_5")).toBe("sk-test");
    expect(await agents.credentials.summary(agent.id)).toMatchObject({ provider_1: false });
    expect((await skills.list(agent.id)).find(({ id }) => id === "clock")?.enabled).toBe(false);
    expect((await skills.memories.recentFacts(agent.id)).facts.map(({ content }) => content)).toEqual([
      "The ship is called Ada",
    ]);
  });

  test("keeps messages that are still there, and deletes those that came after the backup", async () => {
    const agent = await harness.agentWithHistory();
    const seqs = () => harness.rows("SELECT seq FROM messages WHERE agent_id = ? ORDER BY seq", agent.id);
    const before = await seqs();
    const { path } = await harness.backups.write(agent.id);
    await harness.chat(agent, "after");
    await harness.chat(agent, "of another topic", { topic: "Cooking" });
    await harness.services.runtime.whileQuiesced(agent.id, () => harness.backups.restore(agent.id, path));
    expect(await seqs()).toEqual(before);
  });

  test("completes a session that lost a message, with its summary at the same place", async () => {
    const agent = await harness.agentWithHistory();
    const [{ id, seq }] = (await harness.rows(
      "SELECT s.id, min(m.seq) AS seq FROM sessions s JOIN messages m ON m.session_id = s.id WHERE s.agent_id = ? AND s.platform = 'web' GROUP BY s.id",
      agent.id,
    )) as [{ id: string; seq: number }];
    await harness.run("UPDATE sessions SET summary = 'They met.', summary_upto = ? WHERE id = ?", seq + 1, id);
    const before = await harness.dumpBackup(agent);
    const { path } = await harness.backups.write(agent.id);
    await harness.run("DELETE FROM messages WHERE seq = ?", seq + 3);
    await harness.services.runtime.whileQuiesced(agent.id, () => harness.backups.restore(agent.id, path));
    // Compared by session: the rewritten messages of this one come after those of the others.
    const after = await harness.dumpBackup(agent);
    expect({ ...after, messages: undefined }).toEqual({ ...before, messages: undefined });
    const web = ({ messages }: Record<string, unknown>) =>
      (messages as { session: string }[]).filter(({ session }) => session === id);
    expect(web(after)).toEqual(web(before));
  });

  test("leaves waiting messages of the inbox, with a session to be answered in, and of the outbox", async () => {
    const agent = await harness.agentWithHistory();
    const { path } = await harness.backups.write(agent.id);
    await harness.run(
      "INSERT INTO sessions (id, agent_id, platform, created_at, last_activity_at) VALUES ('sess_later', ?, 'web', 1, 1)",
      agent.id,
    );
    await addToInbox(agent, "e1", "sess_later");
    await harness.run(
      "INSERT INTO messages (id, session_id, agent_id, inbox_id, platform, role, content, created_at) VALUES ('m', 'sess_later', ?, 'old', 'web', 'user', 'said later', 1)",
      agent.id,
    );
    await harness.run(
      "INSERT INTO outbox (id, inbox_id, agent_id, platform, peer, body, created_at) VALUES (?, 'e0', ?, 'nowhere', 'chat-1', 'on its way', 1)",
      ...[Bun.randomUUIDv7(), agent.id],
    );
    await harness.backups.restore(agent.id, path);
    expect(
      await harness.rows("SELECT status, session_id FROM inbox WHERE agent_id = ? AND id = 'e1'", agent.id),
    ).toEqual([{ status: "pending", session_id: "sess_later" }]);
    expect(await harness.rows("SELECT message_count AS n, platform FROM sessions WHERE id = 'sess_later'")).toEqual([
      { n: 0, platform: "web" },
    ]);
    expect(await harness.one("SELECT count(*) FROM messages WHERE session_id = 'sess_later'")).toBe(0);
    expect(await harness.one("SELECT body FROM outbox WHERE agent_id = ?", agent.id)).toBe("on its way");
  });

  test("never links a sent message to another agent's reply", async () => {
    const agent = await harness.agentWithHistory();
    const { path } = await harness.backups.write(agent.id);
    await harness.services.runtime.whileQuiesced(agent.id, () => harness.backups.eraseMemory(agent.id));
    await harness.chat(await harness.agent(), "a secret of another agent");
    expect(await harness.services.runtime.listSentMessages(agent.id, { limit: 9, offset: 0 })).toEqual([]);
    await harness.backups.restore(agent.id, path);
    expect(
      await harness.services.runtime.listSentMessages(agent.id, { limit: 9, offset: 0, topic: "Travel" }),
    ).toMatchObject([
      { message: "of a topic", topic: "Travel", status: "done", reply: expect.stringContaining("of a topic") },
    ]);
    const replies = await harness.rows(
      "SELECT i.reply, m.inbox_id, i.id FROM inbox i LEFT JOIN messages m ON m.seq = i.reply WHERE i.agent_id = ?",
      agent.id,
    );
    expect(replies).toHaveLength(4);
    for (const { inbox_id, id } of replies) expect(inbox_id).toBe(String(id));
  });

  test("brings back reminders that are still due; one that fired meanwhile does not fire again", async () => {
    const agent = await harness.agent();
    const said = await harness.remind(agent, "said meanwhile", Date.now() + DAY);
    const cancelled = await harness.remind(agent, "cancelled meanwhile", Date.now() + DAY);
    const over = await harness.remind(agent, "its time is over", Date.now() - 1);
    const { path } = await harness.backups.write(agent.id);
    await harness.run("UPDATE reminders SET fired_at = 5 WHERE id = ?", said);
    await harness.run("DELETE FROM reminders WHERE id IN (?, ?)", cancelled, over);
    await harness.backups.restore(agent.id, path);
    expect(
      await harness.rows("SELECT id, fired_at FROM reminders WHERE agent_id = ? ORDER BY fired_at", agent.id),
    ).toEqual([
      { id: cancelled, fired_at: null },
      { id: said, fired_at: 5 },
    ]);
    expect(await harness.one("SELECT count(*) FROM jobs WHERE kind = 'reminder' AND unique_key = ?", cancelled)).toBe(
      1,
    );
  });

  test("keeps each question right before its reply, with concurrent writes and pages that part them", async () => {
    const [agent, other] = [await harness.agent(), await harness.agent()];
    await harness.chat(agent, "one more, so that pages part questions from replies");
    await harness.run("DELETE FROM messages WHERE agent_id = ? AND role = 'user'", agent.id);
    for (let n = 0; n < 110; n++) await harness.chat(agent, `number ${n}`);
    const { path } = await harness.backups.write(agent.id);
    const before = await harness.dumpBackup(agent);
    await harness.services.runtime.whileQuiesced(agent.id, () => harness.backups.eraseMemory(agent.id));
    const beside: Promise<unknown>[] = [];
    harness.writing.check = (statements) => {
      if (!statements.some(({ sql }) => sql.startsWith("INSERT INTO messages (id, session_id"))) return;
      harness.writing.check = () => undefined;
      for (let n = 0; n < 20; n++) beside.push(harness.chat(other, "beside"));
    };
    await harness.backups.restore(agent.id, path);
    await Promise.all(beside);
    expect(await harness.dumpBackup(agent)).toEqual(before);
    const parted = await harness.one(
      `SELECT count(*) FROM messages AS reply WHERE agent_id = ? AND role = 'assistant' AND content LIKE '%number%' AND NOT EXISTS
        (SELECT 1 FROM messages WHERE seq = reply.seq - 1 AND inbox_id = reply.inbox_id)`,
      agent.id,
    );
    expect([beside.length, parted]).toEqual([20, 0]);
  });

  test("that fails at its last write leaves nothing visible", async () => {
    const agent = await harness.agentWithHistory();
    const { path } = await harness.backups.write(agent.id);
    await harness.services.runtime.whileQuiesced(agent.id, () => harness.backups.eraseMemory(agent.id));
    const forgotten = await harness.dumpBackup(agent);
    harness.writing.check = (statements) => {
      if (statements.some(({ sql }) => sql.includes("UPDATE agents SET name"))) throw new Error("disk full");
    };
    expect((await rejectionOf(harness.backups.restore(agent.id, path))).message).toBe("disk full");
    expect(await harness.dumpBackup(agent)).toEqual(forgotten);
    expect(await harness.services.runtime.sessions.list(agent.id)).toEqual([]);
    expect(await harness.one("SELECT count(*) FROM messages WHERE agent_id = ?", agent.id)).toBe(0);
  });
});

describe("a kill", () => {
  test("in the middle of a restore leaves the agent unchanged; imported rows are deleted later", async () => {
    await using own = await openHarness();
    const agent = await own.agentWithHistory();
    const before = await own.dumpBackup(agent);
    const { path } = await own.backups.write(agent.id);
    await own.services.runtime.whileQuiesced(agent.id, () => own.backups.eraseMemory(agent.id));
    const forgotten = await own.dumpBackup(agent);
    // Every write fails from the last one on, so that the restore can't clean up.
    let killed = false;
    own.writing.check = (statements) => {
      killed ||= statements.some(({ sql }) => sql.includes("UPDATE agents SET name"));
      if (killed) throw new Error("killed");
    };
    await rejectionOf(own.backups.restore(agent.id, path));
    own.writing.check = () => undefined;
    expect(await own.one("SELECT count(*) FROM messages WHERE agent_id = ?", agent.id)).toBe(8);
    await own.restart();
    expect(await own.dumpBackup(agent)).toEqual(forgotten);
    expect(await own.services.runtime.sessions.list(agent.id)).toEqual([]);

    await own.run("UPDATE jobs SET run_at = 0 WHERE kind = 'runtime.clear'");
    await own.restart();
    await eventually(async () => (await own.one("SELECT count(*) FROM messages WHERE agent_id = ?", agent.id)) === 0);
    await own.backups.restore(agent.id, path);
    expect(await own.dumpBackup(agent)).toEqual(before);
  });
});

describe("bots", () => {
  test("that serve another agent by now stay there, with their token", async () => {
    const [agent, other] = [await harness.agentWithHistory(), await harness.agent()];
    const { path } = await harness.backups.write(agent.id);
    await harness.services.channels.disconnect(agent.id, "channel_a");
    await harness.connect(other, `bot-${agent.id}`);
    await harness.backups.restore(agent.id, path);
    expect(await harness.services.channels.listChannelIds(agent.id)).toEqual([]);
    expect(await harness.services.channels.listChannelIds(other.id)).toEqual(["channel_a"]);
    expect(await harness.services.agents.credentials.open(agent.id, "channel_a")).toBeUndefined();
    expect(await harness.one("SELECT count(*) FROM pairings WHERE agent_id = ?", agent.id)).toBe(0);
    const { lines } = await harness.services.agents.logs.list(agent.id, { limit: 5, level: "warning" });
    expect(lines.map(({ message }) => message).join()).toContain("serves another agent");
  });

  test("that were disconnected come back with token and pairings, and are registered again at their platform", async () => {
    const agent = await harness.agentWithHistory();
    await harness.run(
      "UPDATE channel_connections SET detail = 'numbers', resume = 'there' WHERE agent_id = ?",
      agent.id,
    );
    const { path } = await harness.backups.write(agent.id);
    await harness.services.channels.disconnect(agent.id, "channel_a");
    await harness.backups.restore(agent.id, path);
    expect(
      await harness.rows(
        "SELECT bot_id, detail, resume, registered_base FROM channel_connections WHERE agent_id = ?",
        agent.id,
      ),
    ).toEqual([{ bot_id: `bot-${agent.id}`, detail: "numbers", resume: null, registered_base: null }]);
    expect(await harness.services.agents.credentials.open(agent.id, "channel_a")).toBe(`bot-${agent.id}:token`);
    expect(await harness.rows("SELECT sender_id FROM pairings WHERE agent_id = ?", agent.id)).toEqual([
      { sender_id: "42" },
    ]);
  });

  test("that are connected now stay as they are, with their token; approved pairings are restored", async () => {
    const agent = await harness.agentWithHistory();
    const { path } = await harness.backups.write(agent.id);
    await harness.run("UPDATE channel_connections SET token_digest = 'newer' WHERE agent_id = ?", agent.id);
    await harness.services.agents.credentials.set({ kind: "agent", id: agent.id }, "channel_a", "newer:token");
    await harness.run("DELETE FROM pairings WHERE agent_id = ?", agent.id);
    await harness.pair(agent, "99");
    await harness.pair(agent, "100", null);
    await harness.backups.restore(agent.id, path);
    expect(await harness.one("SELECT token_digest FROM channel_connections WHERE agent_id = ?", agent.id)).toBe(
      "newer",
    );
    expect(await harness.services.agents.credentials.open(agent.id, "channel_a")).toBe("newer:token");
    expect(
      await harness.rows("SELECT sender_id, approved_at FROM pairings WHERE agent_id = ? ORDER BY sender_id", agent.id),
    ).toEqual([
      { sender_id: "100", approved_at: null },
      { sender_id: "42", approved_at: 5 },
    ]);
  });
});

describe("a file that is no backup of the agent", () => {
  test("is refused, whatever its path", async () => {
    const [agent, other] = [await harness.agent(), await harness.agent()];
    const { path } = await harness.backups.write(agent.id);
    const { path: foreign } = await harness.backups.write(other.id);
    const name = path.split("/")[2];
    writeFileSync(harness.file(`backups/${agent.id}/notes.json.gz`), "");
    const tries = [
      foreign,
      `backups/${agent.id}/../${other.id}/${foreign.split("/")[2]}`,
      `./${path}`,
      `/${path}`,
      `${path}\0`,
      `${path}/`,
      `backups//${agent.id}/${name}`,
      `${name}`,
      `backups/${agent.id}/notes.json.gz`,
      `backups/${agent.id}/2020-01-01T00-00-00-000Z.json.gz`,
      `backups/${agent.id}/${name}.unfinished`,
      "../../etc/passwd",
      harness.file(path),
      "",
    ];
    for (const tried of tries) {
      for (const work of [keep, harness.backups.restore]) {
        const refused = await rejectionOf(work(agent.id, tried));
        expect({ tried, refused }).toMatchObject({ tried, refused: { status: 400, code: "UNKNOWN_BACKUP" } });
        expect(refused.message).not.toContain(harness.dir);
      }
    }
    await keep(agent.id, path);
  });

  test("a backup in use is not deleted, also when the work fails", async () => {
    const agent = await harness.agent();
    const { path } = await harness.backups.write(agent.id);
    const many = async () => {
      for (let n = 0; n < MAX_BACKUPS; n++) await harness.backups.write(agent.id);
    };
    const failing = harness.backups.withBackup(agent.id, path, async () => {
      await many();
      await keep(agent.id, path);
      throw new Error("no room");
    });
    expect(await rejectionOf(failing)).toMatchObject({ message: "no room" });
    await many();
    expect(await rejectionOf(keep(agent.id, path))).toMatchObject({ code: "UNKNOWN_BACKUP" });
  });

  test("a backup has the response cache's setting; one without that part leaves the setting unchanged", async () => {
    const agent = await harness.agent();
    await harness.chat(agent, "hello");
    const { turnCache, turnModelOf } = harness.host.use(ai);
    const kept = async () => turnCache(agent, await turnModelOf(agent));
    const keepFor = (seconds: number) =>
      harness.run("INSERT OR REPLACE INTO response_caches (agent_id, max_age_s) VALUES (?, ?)", agent.id, seconds);
    const { path: without } = await harness.backups.write(agent.id);
    await keepFor(90);
    const { path } = await harness.backups.write(agent.id);
    const setting = () => harness.rows("SELECT max_age_s FROM response_caches WHERE agent_id = ?", agent.id);
    await harness.backups.restore(agent.id, without);
    expect([await setting(), await kept()]).toEqual([[], undefined]);
    await harness.backups.restore(agent.id, path);
    expect([await setting(), await kept()]).toEqual([[{ max_age_s: 90 }], expect.any(Object)]);
    await keepFor(30);
    const text = gunzipSync(readFileSync(harness.file(path))).toString();
    const earlier = text.replace(/,\{"part":"cache","rows":\[[^\]]*\]\}\n/, "");
    expect(earlier).not.toBe(text);
    writeFileSync(harness.file(path), gzipSync(sealed(earlier)));
    await harness.backups.restore(agent.id, path);
    expect(await setting()).toEqual([{ max_age_s: 30 }]);
  });

  test("a backup has the public page; one without that part leaves the page unchanged", async () => {
    const agent = await harness.agent();
    const setPage = (enabled: 0 | 1, greeting: string) =>
      harness.run("INSERT OR REPLACE INTO public_pages VALUES (?, ?, ?, 7, '[]')", agent.id, enabled, greeting);
    const page = () => harness.rows("SELECT enabled, greeting FROM public_pages WHERE agent_id = ?", agent.id);
    const { path: without } = await harness.backups.write(agent.id);
    await setPage(1, "Ahoy");
    const { path } = await harness.backups.write(agent.id);
    await harness.backups.restore(agent.id, without);
    expect(await page()).toEqual([]);
    await harness.backups.restore(agent.id, path);
    expect(await page()).toEqual([{ enabled: 1, greeting: "Ahoy" }]);
    await setPage(0, "Closed");
    const text = gunzipSync(readFileSync(harness.file(path))).toString();
    const earlier = text.replace(/,\{"part":"publicPage","rows":\[.*\]\}\n/, "");
    expect(earlier).not.toBe(text);
    writeFileSync(harness.file(path), gzipSync(sealed(earlier)));
    await harness.backups.restore(agent.id, path);
    expect(await page()).toEqual([{ enabled: 0, greeting: "Closed" }]);
  });

  test("a truncated or changed file is refused before anything is changed", async () => {
    const agent = await harness.agentWithHistory();
    const { path } = await harness.backups.write(agent.id);
    const before = await harness.dumpBackup(agent);
    const file = harness.file(path);
    const good = readFileSync(file);
    const text = gunzipSync(good).toString();
    const flipped = Buffer.from(good);
    flipped[Math.floor(good.length / 2)] = (flipped[Math.floor(good.length / 2)] ?? 0) ^ 1;
    const bad = [
      Buffer.alloc(0),
      Buffer.from("hello"),
      good.subarray(0, good.length / 2),
      good.subarray(0, good.length - 1),
      flipped,
      Buffer.concat([good, good]),
      gzipSync(text.replace("Ada", "Eve")),
      gzipSync(text.slice(0, text.lastIndexOf(",{"))),
      gzipSync(`${text}[]\n`),
      gzipSync("[]"),
    ];
    for (const bytes of bad) {
      writeFileSync(file, bytes);
      for (const work of [keep, harness.backups.restore]) {
        expect(await rejectionOf(work(agent.id, path))).toMatchObject({ status: 400, code: "DAMAGED_BACKUP" });
      }
    }
    expect(await harness.dumpBackup(agent)).toEqual(before);

    writeFileSync(file, gzipSync(sealed(text.replace('"version":1', '"version":2'))));
    expect(await rejectionOf(keep(agent.id, path))).toMatchObject({
      status: 400,
      code: "NEWER_BACKUP",
    });
    writeFileSync(file, gzipSync(sealed(text.replace(agent.id, crypto.randomUUID()))));
    expect(await rejectionOf(keep(agent.id, path))).toMatchObject({ code: "DAMAGED_BACKUP" });
    writeFileSync(file, gzipSync(sealed(text)));
    await harness.backups.restore(agent.id, path);
    expect(await harness.dumpBackup(agent)).toEqual(before);
  });
});

describe("a memory reset", () => {
  test("deletes messages and memories from every table, and leaves the rest", async () => {
    const agent = await harness.agentWithHistory();
    await addToInbox(agent, "parked", "sess_x", "parked", "a parked secret");
    await harness.run(
      "INSERT INTO outbox (id, inbox_id, agent_id, platform, peer, body, status, created_at) VALUES (?, 'e0', ?, 'channel_a', 'chat-1', 'a sent secret', 'sent', 1)",
      ...[Bun.randomUUIDv7(), agent.id],
    );
    await harness.run("UPDATE sessions SET summary = 'a summed-up secret' WHERE agent_id = ?", agent.id);
    const before = await harness.dumpBackup(agent);
    await harness.services.runtime.whileQuiesced(agent.id, () => harness.backups.eraseMemory(agent.id));
    const after = await harness.dumpBackup(agent);
    for (const kept of ["agent", "configs", "credentials", "switches", "connections", "pairings"]) {
      expect(after[kept]).toEqual(before[kept]);
    }
    for (const gone of ["sessions", "messages", "memories", "reminders"]) expect(after[gone]).toEqual([]);
    for (const table of ["sessions", "messages", "memories", "reminders", "outbox"]) {
      expect(JSON.stringify(await harness.rows(`SELECT * FROM ${table} WHERE agent_id = ?`, agent.id))).not.toMatch(
        /secret|🚢|plants|tea/,
      );
    }
    expect(await harness.services.skills.memories.search(agent.id, "ship", 3)).toEqual([]);
    expect(await harness.services.runtime.listSentMessages(agent.id, { limit: 9, offset: 0 })).toEqual([]);
  });

  test("keeps a session for a waiting message, and one that was just created", async () => {
    const agent = await harness.agentWithHistory();
    const waiting = "sess_wait";
    await harness.run(
      "INSERT INTO sessions (id, agent_id, platform, message_count, summary, summary_upto, created_at, last_activity_at) VALUES (?, ?, 'web', 1, 's', 1, 1, 1)",
      waiting,
      agent.id,
    );
    await harness.run(
      "INSERT INTO messages (id, session_id, agent_id, inbox_id, platform, role, content, created_at) VALUES ('m', ?, ?, 'old', 'web', 'user', 'said before', 1)",
      ...[waiting, agent.id],
    );
    await addToInbox(agent, "e1", waiting);
    await harness.run(
      "INSERT INTO sessions (id, agent_id, platform, created_at, last_activity_at) VALUES ('sess_new', ?1, 'web', ?2, ?2)",
      agent.id,
      Date.now(),
    );
    await harness.backups.eraseMemory(agent.id);
    expect(
      await harness.rows(
        "SELECT id, platform, message_count AS n, summary, summary_upto AS upto FROM sessions WHERE agent_id = ? ORDER BY id",
        agent.id,
      ),
    ).toEqual([
      { id: "sess_new", platform: "web", n: 0, summary: null, upto: 0 },
      { id: waiting, platform: "web", n: 0, summary: null, upto: 0 },
    ]);
    expect(await harness.one("SELECT count(*) FROM messages WHERE agent_id = ?", agent.id)).toBe(0);
    expect(await harness.one("SELECT content FROM inbox WHERE agent_id = ? AND id = 'e1'", agent.id)).toBe("waits");
  });

  test("that was interrupted continues at the next start", async () => {
    await using own = await openHarness();
    const agent = await own.agentWithHistory();
    let killed = false;
    own.writing.check = (statements) => {
      if (killed) throw new Error("killed");
      killed = statements.some(({ sql }) => sql.includes("UPDATE sessions SET platform"));
    };
    await own.backups.eraseMemory(agent.id);
    own.writing.check = () => undefined;
    expect(await own.services.runtime.sessions.list(agent.id)).toEqual([]);
    expect(await own.one("SELECT count(*) FROM messages WHERE agent_id = ?", agent.id)).toBe(8);
    await own.run("UPDATE jobs SET run_at = 0 WHERE kind = 'runtime.clear'");
    await own.restart();
    await eventually(async () => (await own.one("SELECT count(*) FROM sessions WHERE agent_id = ?", agent.id)) === 0);
    expect(await own.one("SELECT count(*) FROM messages WHERE agent_id = ?", agent.id)).toBe(0);
    expect(await own.one("SELECT count(*) FROM inbox WHERE agent_id = ? AND content <> ''", agent.id)).toBe(0);
  });
});

test("backup, reset and restore work over a libSQL server too", async () => {
  const sqld = await startSqld();
  try {
    await using own = await openHarness({ DATABASE_URL: sqld.url });
    const agent = await own.agentWithHistory();
    const before = await own.dumpBackup(agent);
    const { path } = await own.backups.write(agent.id);
    expect(await own.backups.repair(agent.id)).toEqual([]);
    await own.services.runtime.whileQuiesced(agent.id, () => own.backups.eraseMemory(agent.id));
    expect(await own.dumpBackup(agent)).toMatchObject({ messages: [], sessions: [], memories: [], reminders: [] });
    await own.backups.restore(agent.id, path);
    expect(await own.dumpBackup(agent)).toEqual(before);
    await own.backups.restore(agent.id, path);
    expect(await own.dumpBackup(agent)).toEqual(before);
  } finally {
    await sqld.stop();
  }
});

describe("an agent that is deleted", () => {
  test("loses its backups; other agents keep theirs", async () => {
    const [agent, other] = [await harness.agent(), await harness.agent()];
    const { path } = await harness.backups.write(agent.id);
    const { path: kept } = await harness.backups.write(other.id);
    await harness.services.agents.remove(agent.id);
    expect(existsSync(harness.file(path))).toBe(false);
    expect(existsSync(harness.file(`backups/${agent.id}`))).toBe(false);
    expect(existsSync(harness.file(kept))).toBe(true);
    expect(await rejectionOf(harness.backups.write(agent.id))).toMatchObject({ status: 404, code: "AGENT_NOT_FOUND" });
    expect(existsSync(harness.file(`backups/${agent.id}`))).toBe(false);
  });

  test("while its backup is written is not found: no failure of the disk, and no file", async () => {
    for (let n = 0; n < 20; n++) {
      const { id } = await harness.agent();
      const writing = harness.backups.write(id).catch((error: unknown) => error);
      await Promise.all([writing, harness.services.agents.remove(id)]);
      const outcome = await writing;
      if (outcome instanceof Error) expect(outcome).toMatchObject({ status: 404, code: "AGENT_NOT_FOUND" });
      expect(existsSync(harness.file(`backups/${id}`))).toBe(false);
    }
  });
});

/** Inserts a web message into the inbox, pending by default. */
function addToInbox(agent: Agent, id: string, sessionId: string, status = "pending", content = "waits") {
  return harness.run(
    `INSERT INTO inbox (id, agent_id, session_id, platform, sender_id, sender_name, by_owner, content, status, received_at)
      VALUES (?, ?, ?, 'web', 'u', 'Ada', 1, ?, ?, 1)`,
    ...[id, agent.id, sessionId, content, status],
  );
}

/** The text of a backup with a correct checksum. */
function sealed(text: string): string {
  const lines = text.slice(0, text.lastIndexOf(",{"));
  const sum = new Bun.CryptoHasher("sha256").update(lines).digest("hex");
  return `${lines},{"sha256":"${sum}"}\n]\n`;
}
