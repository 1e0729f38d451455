// Tests webhooks: when they are registered, how a post finds its bot, and the limits per bot.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createBackendTransport } from "../../../src/kernel/http/backend/backend-transport.ts";
import type { SocketSession } from "../../../src/kernel/http/web-sockets.ts";
import { rawRequest } from "../../../tests/support/raw.ts";
import { type ChannelsFixture, openChannelsFixture } from "../support.test.ts";

let fixture: ChannelsFixture;
let next = 3_000;
beforeAll(async () => {
  fixture = await openChannelsFixture({ env: { CHANNEL_A_MODE: "webhook" } });
});
afterAll(() => fixture[Symbol.asyncDispose]());

async function connected() {
  const token = `${++next}:secret-part-of-the-token-${next}`;
  const bot = fixture.telegram.addBot(token);
  const id = await fixture.provision();
  const { body } = await fixture.connect(id, token, { ownerId: 42 });
  expect(body).toMatchObject({ state: "connected" });
  return { id, token, bot };
}

const registrations = () => fixture.telegram.stats().calls.setWebhook ?? 0;
const update = {
  update_id: 1,
  message: {
    message_id: 9,
    date: 1,
    chat: { id: 42, type: "private" },
    text: "hi",
    from: { id: 42, is_bot: false, first_name: "Ada" },
  },
};

async function post(path: string, body: unknown = update, secret?: string) {
  const headers = { "content-type": "application/json", ...(secret && { "x-telegram-bot-api-secret-token": secret }) };
  const response = await fetch(`${fixture.origin}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
  return { status: response.status, text: await response.text() };
}

test("connecting registers an address that can't be guessed", async () => {
  const { id, bot } = await connected();
  expect(bot.webhook?.url).toMatch(/^https:\/\/berth\.example\/hooks\/channel_a\/[\w-]{32}$/);
  expect(bot.webhook?.secret).toMatch(/^[\w-]{40,}$/);
  bot.userSays(42, "hello");
  await fixture.telegram.waitFor(() => bot.sent(42).length === 1);
  expect(await fixture.channel(id)).toMatchObject({ state: "connected", mode: "webhook" });
  const [row] = await fixture.rows("SELECT callback_secret FROM channel_connections WHERE agent_id = ?", id);
  expect(row?.callback_secret).not.toContain(bot.webhook?.secret);
});

test("a start registers only bots whose registered address has changed", async () => {
  const { id, bot } = await connected();
  const before = registrations();
  await fixture.restart();
  bot.userSays(42, "hello");
  await fixture.telegram.waitFor(() => bot.sent(42).length === 1);
  expect(registrations()).toBe(before);
  expect(await fixture.channel(id)).toMatchObject({ state: "connected" });
  await fixture.restart({ BASE_URL: "https://new.berth.example" });
  await fixture.telegram.waitFor(() => bot.webhook?.url.startsWith("https://new.berth.example/"));
  await fixture.restart();
  await fixture.telegram.waitFor(() => bot.webhook?.url.startsWith("https://berth.example/"));
});

test("a failed registration is retried", async () => {
  const token = `${++next}:secret`;
  const bot = fixture.telegram.addBot(token);
  const id = await fixture.provision();
  fixture.telegram.fail("setWebhook", { status: 502 });
  expect((await fixture.connect(id, token, { ownerId: 42 })).body).toMatchObject({ state: "backing_off" });
  await fixture.telegram.waitFor(() => bot.webhook !== undefined);
  await fixture.inState(id, "connected");
});

test("a stopped agent's messages wait at the platform until it is started again", async () => {
  const { id, bot } = await connected();
  const { url = "", secret } = bot.webhook ?? {};
  await fixture.setStatus(id, "stopped");
  await fixture.telegram.waitFor(() => bot.webhook === undefined);
  expect((await post(new URL(url).pathname, update, secret)).status).toBe(409);
  bot.userSays(42, "are you there?");
  await fixture.setStatus(id, "active");
  await fixture.telegram.waitFor(() => bot.sent(42).length === 1);
});

test("disconnecting and removing unregister the address", async () => {
  const [first, second] = [await connected(), await connected()];
  const path = new URL(first.bot.webhook?.url ?? "").pathname;
  await fixture.owner.delete(`/api/agents/${first.id}/channels/channel_a`);
  await fixture.owner.delete(`/api/agents/${second.id}`);
  expect([first.bot.webhook, second.bot.webhook]).toEqual([undefined, undefined]);
  expect((await post(path)).status).toBe(404);
});

test("a bot fails when the platform refuses its token for a send", async () => {
  const { id, token, bot } = await connected();
  const { url = "", secret } = bot.webhook ?? {};
  fixture.telegram.revoke(token);
  expect((await post(new URL(url).pathname, update, secret)).status).toBe(200);
  expect(await fixture.inState(id, "failed")).toMatchObject({ lastError: expect.stringContaining("token") });
  // The next start finds it out again.
  await fixture.restart();
  await fixture.inState(id, "failed");
});

describe("a post", () => {
  test("without its secret is refused before it is read, and stores nothing", async () => {
    const { id, bot } = await connected();
    const { pathname } = new URL(bot.webhook?.url ?? "");
    expect((await post(pathname)).status).toBe(401);
    expect((await post(pathname, update, "another-secret")).status).toBe(401);
    expect((await post(pathname, "no update", bot.webhook?.secret)).status).toBe(400);
    expect(await fixture.rows("SELECT id FROM inbox WHERE agent_id = ?", id)).toEqual([]);
  });

  test("whose body stops is 408, and stores nothing", async () => {
    const { id, bot } = await connected();
    const { url = "", secret } = bot.webhook ?? {};
    const head = `POST ${new URL(url).pathname} HTTP/1.1\r\nHost: a\r\nX-Telegram-Bot-Api-Secret-Token: ${secret}\r\n`;
    const { status, body } = await rawRequest(
      fixture.origin,
      `${head}Content-Length: 500\r\n\r\n{"update_id":1`,
      30_000,
    );
    expect([status, JSON.parse(body).code]).toEqual([408, "BODY_TIMEOUT"]);
    expect(await fixture.rows("SELECT id FROM inbox WHERE agent_id = ?", id)).toEqual([]);
  });

  test("to an unknown address is 404, whatever its form", async () => {
    const { bot } = await connected();
    const callback = bot.webhook?.url.split("/").at(-1) ?? "";
    for (const path of [
      `/hooks/channel_a/${"x".repeat(32)}`,
      "/hooks/channel_a/short",
      `/hooks/channel_b/${callback}`,
      `/hooks/channel_z/${callback}`,
      "/hooks/channel_a/..%2F..%2Fapi%2Fagents",
    ]) {
      expect({ path, status: (await post(path, update, bot.webhook?.secret)).status }).toEqual({ path, status: 404 });
    }
  });

  test("that is delivered twice is answered once", async () => {
    const { id, bot } = await connected();
    const { pathname } = new URL(bot.webhook?.url ?? "");
    const both = [post(pathname, update, bot.webhook?.secret), post(pathname, update, bot.webhook?.secret)];
    expect((await Promise.all(both)).map(({ status }) => status)).toEqual([200, 200]);
    expect(await fixture.rows("SELECT id FROM inbox WHERE agent_id = ?", id)).toHaveLength(1);
  });

  test("is forwarded by a web surface in another process", async () => {
    const { bot } = await connected();
    const { pathname } = new URL(bot.webhook?.url ?? "");
    const { app, kernel } = fixture;
    await using backend = Bun.serve<SocketSession>({
      port: 0,
      hostname: "127.0.0.1",
      fetch: (request, own) => app.backend.fetch(request, own),
      websocket: { message: () => undefined },
    });
    const transport = createBackendTransport(kernel.backend.tokens, `http://127.0.0.1:${backend.port}`);
    const grant = { userId: "", isAdmin: false, action: "channel.receive", address: "203.0.113.7" };
    const headers = {
      "content-type": "application/json",
      "x-telegram-bot-api-secret-token": bot.webhook?.secret ?? "",
    };
    const said = (action: string) =>
      transport.fetch({ ...grant, action }, pathname.replace("/hooks/", "/api/hooks/"), {
        method: "POST",
        headers,
        body: JSON.stringify(update),
      });
    await expect(said("agent.chat")).rejects.toMatchObject({ status: 502, code: "BACKEND_UNAVAILABLE" });
    expect((await said("channel.receive")).status).toBe(200);
  });
});

test("posts are limited per bot, and those of strangers per address", async () => {
  const { bot } = await connected();
  await fixture.restart({ RATE_LIMITS: '{"default":"5/m"}' });
  const { pathname } = new URL(bot.webhook?.url ?? "");
  const statuses = async (path: string, count: number) => {
    const seen = new Set<number>();
    for (let n = 0; n < count; n++) {
      const one = { ...update, update_id: n, message: { ...update.message, message_id: 100 + n } };
      seen.add((await post(path, one, bot.webhook?.secret)).status);
    }
    return [...seen];
  };
  expect(await statuses(pathname, 20)).toEqual([200]);
  expect(await statuses(`/hooks/channel_a/${"y".repeat(32)}`, 7)).toEqual([404, 429]);
  expect(await statuses(pathname, 3)).toEqual([200]);
});
