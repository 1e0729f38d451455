// Tests channels as an owner uses them: connect, talk, list, disconnect, and the failures of each.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Client, createClient } from "../../tests/support/client.ts";
import { eventually } from "../../tests/support/eventually.ts";
import { type ChannelsFixture, openChannelsFixture } from "./support.test.ts";

let fixture: ChannelsFixture;
let next = 1_000;
beforeAll(async () => {
  fixture = await openChannelsFixture();
});
afterAll(() => fixture[Symbol.asyncDispose]());

/** A bot that serves no agent yet. */
function aBot() {
  const token = `${++next}:secret-part-of-the-token-${next}`;
  return { token, bot: fixture.telegram.addBot(token, { username: `bot_${next}` }) };
}

describe("connecting", () => {
  test("returns the bot, and people can talk to the agent", async () => {
    const { token, bot } = aBot();
    const id = await fixture.provision();
    const { status, body } = await fixture.connect(id, token, { ownerId: 42 });
    const identity = { id: String(bot.id), username: bot.username };
    expect({ status, body }).toMatchObject({
      status: 200,
      body: { success: true, channel: "channel_a", bot: identity, state: "connected" },
    });
    bot.userSays(42, "hello");
    await fixture.telegram.waitFor(() => bot.sent(42).length === 1);
    expect(bot.sent(42)[0]?.text).toContain("Hello!");
    const since = expect.stringMatching(/^\d{4}-.*Z$/);
    expect(await fixture.channel(id)).toEqual({
      channel: "channel_a",
      label: "Telegram",
      bot: identity,
      link: `https://t.me/${bot.username}`,
      ownerId: "42",
      state: "connected",
      since,
      lastError: null,
      problem: null,
      nextTryAt: null,
      mode: "polling",
    });
    const path = `/api/agents/${id}/channels`;
    expect((await fixture.owner.get(`${path}/channel_a`)).body).toEqual(await fixture.channel(id));
    expect(await fixture.owner.get(`${path}/channel_b`)).toMatchObject({
      status: 404,
      body: { code: "CHANNEL_NOT_CONNECTED" },
    });
    expect(await fixture.owner.get(`${path}/channel_z`)).toMatchObject({
      status: 404,
      body: { code: "CHANNEL_NOT_FOUND" },
    });
    expect((await fixture.owner.get("/api/agent?action=credentials")).body).toMatchObject({
      credentials: { channel_a: true },
    });
    expect((await fixture.owner.get("/api/agent?action=health")).body).toMatchObject({ channels: ["channel_a"] });
  });

  test("stores the token nowhere in clear, and returns it in no answer", async () => {
    const { token } = aBot();
    const id = await fixture.provision();
    const answers = [await fixture.connect(id, token), await fixture.owner.get(`/api/agents/${id}/channels`)];
    const stored = JSON.stringify([
      await fixture.rows("SELECT * FROM channel_connections"),
      await fixture.rows("SELECT * FROM credentials"),
      await fixture.rows("SELECT * FROM events"),
      await fixture.logs(id),
      answers.map(({ text }) => text),
    ]);
    expect(stored).not.toContain(token.slice(token.indexOf(":") + 1));
  });

  test("a token of no bot is refused, and nothing is stored", async () => {
    const id = await fixture.provision();
    const refused = await fixture.connect(id, "77:nobodys-token");
    expect(refused).toMatchObject({
      status: 400,
      body: { code: "INVALID_CHANNEL_TOKEN", issues: [{ path: "token" }] },
    });
    const malformed = await fixture.connect(id, "no token at all");
    expect(malformed).toMatchObject({ status: 400, body: { code: "INVALID_CHANNEL_TOKEN" } });
    expect(await fixture.channel(id)).toBeUndefined();
    expect(await fixture.rows("SELECT kind FROM credentials WHERE owner_id = ?", id)).toEqual([]);
  });

  test("an unreachable platform is 502, and nothing is stored", async () => {
    const { token } = aBot();
    const id = await fixture.provision();
    fixture.telegram.fail("getMe", { status: 502 });
    expect(await fixture.connect(id, token)).toMatchObject({ status: 502, body: { code: "CHANNEL_UNREACHABLE" } });
    expect(await fixture.channel(id)).toBeUndefined();
  });

  describe("a caller who lost access before the platform answered", () => {
    /** Connects, and runs a step between the call of the platform and its answer. */
    async function meanwhile(id: string, by: Client, happens: () => Promise<unknown>, headers = {}) {
      const { token, bot } = aBot();
      fixture.telegram.fail("getMe", { slowMs: 300 }, { botId: bot.id });
      const asked = by.put(`/api/agents/${id}/channels/channel_a`, { token, ownerId: 666 }, { headers });
      await eventually(() => fixture.telegram.calls.some(({ botId }) => botId === bot.id));
      await happens();
      return asked;
    }
    const nothingKept = async (id: string) => {
      expect(await fixture.rows("SELECT bot_id FROM channel_connections WHERE agent_id = ?", id)).toEqual([]);
      expect(await fixture.rows("SELECT kind FROM credentials WHERE owner_id = ?", id)).toEqual([]);
    };
    const refused = { status: 401, body: { code: "UNAUTHORIZED" } };
    const another = async () => {
      const { email, password } = { email: "owner@example.com", password: "correct horse battery" };
      const client = createClient(fixture.origin);
      expect((await client.post("/api/auth/callback/credentials", { email, password })).status).toBe(200);
      return client;
    };

    test("by the end of the session, connects nothing", async () => {
      const id = await fixture.provision();
      const stranger = await another();
      expect(await meanwhile(id, stranger, () => stranger.signOut())).toMatchObject(refused);
      await nothingKept(id);
    });

    test("by the revocation of the key, connects nothing", async () => {
      const id = await fixture.provision();
      const { body } = await fixture.owner.post<{ id: string; key: string }>("/api/keys", { name: "stranger's" });
      const revoke = () => fixture.kernel.database.write([{ sql: "DELETE FROM api_keys", args: [] }]);
      const headers = { authorization: `Bearer ${body.key}` };
      expect(headers.authorization).toStartWith("Bearer bk_");
      expect(await meanwhile(id, createClient(fixture.origin), revoke, headers)).toMatchObject(refused);
      await nothingKept(id);
    });

    test("by a disabled account, connects nothing", async () => {
      const id = await fixture.provision();
      const disabled = (at: string) =>
        fixture.kernel.database.write([
          { sql: `UPDATE users SET disabled_at = ${at} WHERE email = 'owner@example.com'`, args: [] },
        ]);
      expect(await meanwhile(id, fixture.owner, () => disabled("1"))).toMatchObject(refused);
      await nothingKept(id);
      await disabled("NULL");
    });

    test("by an update of the agent, connects nothing; others connect", async () => {
      const id = await fixture.provision();
      const update = async (agentId: string) => void Object.assign(fixture, { updating: agentId });
      expect(await meanwhile(id, fixture.owner, () => update(id))).toMatchObject({
        status: 409,
        body: { code: "OPERATION_IN_PROGRESS" },
      });
      await nothingKept(id);
      await update("");
      expect(await meanwhile(id, fixture.owner, async () => undefined)).toMatchObject({ status: 200 });
    });
  });

  test("a bot serves one agent, also with many requests at once", async () => {
    const { token } = aBot();
    const ids = await Promise.all([fixture.provision(), fixture.provision(), fixture.provision()]);
    const answers = await Promise.all(ids.map((id) => fixture.connect(id, token)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
    expect(answers.filter(({ body }) => body.code === "CHANNEL_IN_USE")).toHaveLength(2);
    const connected = await Promise.all(ids.map((id) => fixture.channel(id)));
    expect(connected.filter(Boolean)).toHaveLength(1);
    expect(fixture.telegram.stats().conflicts).toBe(0);
  });

  test("an unknown channel is 404", async () => {
    const id = await fixture.provision();
    expect(await fixture.connect(id, "x", {}, "channel_z")).toMatchObject({
      status: 404,
      body: { code: "CHANNEL_NOT_FOUND" },
    });
    expect((await fixture.connect(id, "x", {}, "..%2F..%2Fconfig")).status).toBe(404);
  });

  test("an owner's id is a number, never a name", async () => {
    const { token } = aBot();
    const id = await fixture.provision();
    expect(await fixture.connect(id, token, { ownerId: "@ada" })).toMatchObject({ status: 400 });
    expect(await fixture.channel(id)).toBeUndefined();
  });

  test("another bot replaces the first", async () => {
    const [first, second] = [aBot(), aBot()];
    const id = await fixture.provision();
    await fixture.connect(id, first.token, { ownerId: 42 });
    first.bot.userSays(42, "hello");
    await fixture.telegram.waitFor(() => first.bot.sent(42).length === 1);
    expect((await fixture.connect(id, second.token)).status).toBe(200);
    await fixture.telegram.waitFor(() => !first.bot.polling && second.bot.polling);
    // The platform numbers each bot's messages from 1.
    second.bot.userSays(42, "hello again");
    await fixture.telegram.waitFor(() => second.bot.sent(42).length === 1);
    // The first bot is free for another agent.
    expect((await fixture.connect(await fixture.provision(), first.token)).status).toBe(200);
  });

  test("set-credential connects and disconnects too", async () => {
    const { token, bot } = aBot();
    const agentId = await fixture.provision();
    const set = (value: string) =>
      fixture.owner.post("/api/agent", { action: "set-credential", agentId, key: "channel_a", value });
    expect(await set(token)).toMatchObject({ status: 200, body: { success: true } });
    await fixture.telegram.waitFor(() => bot.polling);
    expect(await set("")).toMatchObject({ status: 200, body: { configured: false } });
    await fixture.telegram.waitFor(() => !bot.polling);
    expect(await set("77:nobodys-token")).toMatchObject({ status: 400, body: { code: "INVALID_CHANNEL_TOKEN" } });
  });
});

describe("disconnecting", () => {
  test("forgets the bot and its token", async () => {
    const { token, bot } = aBot();
    const id = await fixture.provision();
    await fixture.connect(id, token);
    const path = `/api/agents/${id}/channels/channel_a`;
    expect(await fixture.owner.delete(path)).toMatchObject({
      status: 200,
      body: { success: true, channel: "channel_a" },
    });
    await fixture.telegram.waitFor(() => !bot.polling);
    expect(await fixture.channel(id)).toBeUndefined();
    expect(await fixture.rows("SELECT kind FROM credentials WHERE owner_id = ?", id)).toEqual([]);
    expect(await fixture.owner.delete(path)).toMatchObject({ status: 404, body: { code: "CHANNEL_NOT_CONNECTED" } });
  });

  test("removing an agent releases its bot", async () => {
    const { token, bot } = aBot();
    const id = await fixture.provision();
    await fixture.connect(id, token);
    await fixture.owner.delete(`/api/agents/${id}`);
    await fixture.telegram.waitFor(() => !bot.polling);
    expect((await fixture.connect(await fixture.provision(), token)).status).toBe(200);
  });
});

describe("ownership", () => {
  test("only the agent's owner lists, connects or disconnects its channels", async () => {
    const { token } = aBot();
    const id = await fixture.provision();
    await fixture.connect(id, token);
    const stranger = createClient(fixture.origin);
    await stranger.join();
    const anonymous = createClient(fixture.origin);
    const path = `/api/agents/${id}/channels`;
    for (const [client, status] of [
      [stranger, 404],
      [anonymous, 401],
    ] as const) {
      expect((await client.get(path)).status).toBe(status);
      expect((await client.get(`${path}/channel_a`)).status).toBe(status);
      expect((await client.put(`${path}/channel_a`, { token: 7 })).status).toBe(status);
      expect((await client.delete(`${path}/channel_a`)).status).toBe(status);
      expect((await client.get(`${path}/channel_a/pairings`)).status).toBe(status);
      expect((await client.post(`${path}/channel_a/pairings`, { code: "AAAAAA" })).status).toBe(status);
    }
    expect(await fixture.channel(id)).toMatchObject({ state: "connected" });
  });
});

describe("a reply", () => {
  test("that the platform refuses is given up, with a line in the agent's log", async () => {
    const { token, bot } = aBot();
    const id = await fixture.provision();
    await fixture.connect(id, token, { ownerId: 42 });
    fixture.telegram.fail("sendMessage", { status: 403, description: "Forbidden: bot was blocked by the user" });
    bot.userSays(42, "hello");
    await eventually(async () => (await fixture.logs(id)).some((line) => line.includes("was not delivered")));
    expect(bot.sent(42)).toEqual([]);
  });

  test("that the platform delays is sent later", async () => {
    const { token, bot } = aBot();
    const id = await fixture.provision();
    await fixture.connect(id, token, { ownerId: 42 });
    fixture.telegram.fail("sendMessage", { status: 429, retryAfter: 1 });
    bot.userSays(42, "hello");
    await fixture.telegram.waitFor(() => bot.sent(42).length === 1);
    expect(await fixture.channel(id)).toMatchObject({ state: "connected" });
  });
});

describe("with limits on", () => {
  test("refused tokens are limited on both surfaces; good ones are not", async () => {
    await using limited = await openChannelsFixture({ env: { RATE_LIMITS: "on" } });
    const id = await limited.provision();
    for (let n = 0; n < 12; n++) {
      const token = `${++next}:secret-part-of-the-token-${next}`;
      limited.telegram.addBot(token, { username: `bot_${next}` });
      expect((await limited.connect(id, token)).status).toBe(200);
    }
    for (let n = 0; n < 5; n++) {
      const { status, body } = await limited.connect(id, `${++next}:nobodys-token`);
      expect({ status, code: body.code }).toEqual({ status: 400, code: "INVALID_CHANNEL_TOKEN" });
    }
    const { status, body, headers } = await limited.connect(id, `${++next}:nobodys-token`);
    expect({ status, code: body.code }).toEqual({ status: 429, code: "RATE_LIMITED" });
    expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
    expect(headers.get("ratelimit-policy")).toContain("provision");
    expect(headers.get("ratelimit")).toContain("provision");
    const made = await limited.owner.post<{ key: string }>("/api/keys", { name: "for the backend" });
    const direct = await limited.app.backend.handle(
      new Request(`http://localhost/api/agents/${id}/channels/channel_a`, {
        method: "PUT",
        headers: { authorization: `Bearer ${made.body.key}`, "content-type": "application/json" },
        body: JSON.stringify({ token: `${++next}:nobodys-token` }),
      }),
    );
    expect(direct.status).toBe(429);
  });
});
