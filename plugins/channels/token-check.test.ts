// Tests the routes that a page for connecting a bot needs: the catalogue, the check of a token, and the retry.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createClient } from "../../tests/support/client.ts";
import { type ChannelsFixture, openChannelsFixture } from "./support.test.ts";

let fixture: ChannelsFixture;
let next = 7_000;
beforeAll(async () => {
  fixture = await openChannelsFixture();
});
afterAll(() => fixture[Symbol.asyncDispose]());

function aBot() {
  const token = `${++next}:${"s".repeat(31)}${next}`;
  return { token, bot: fixture.telegram.addBot(token, { username: `checked_${next}` }) };
}
const check = (id: string, token: string, channel = "channel_a") =>
  fixture.owner.post<Record<string, unknown>>(`/api/agents/${id}/channels/${channel}/check`, { token });

test("the catalogue lists the channels there are, with what a page must know of each", async () => {
  const { status, body } = await fixture.owner.get<{ channels: object[]; count: number }>("/api/channels");
  expect({ status, count: body.count }).toEqual({ status: 200, count: 5 });
  expect(body.channels).toMatchObject([
    {
      channel: "channel_a",
      label: "Telegram",
      mode: "polling",
      hasGroups: true,
      link: "chat",
      needsHttps: false,
      appWebhook: null,
    },
    { channel: "channel_b", label: "Discord", mode: "gateway", link: "invite" },
    {
      channel: "channel_c",
      label: "WhatsApp",
      mode: "webhook",
      hasGroups: false,
      needsHttps: false,
      appWebhook: { url: expect.stringMatching(/\/hooks\/channel_c$/), verifyToken: "berth" },
      credentials: null,
    },
    {
      ...{ channel: "channel_d", label: "Slack", mode: "gateway", hasGroups: true, link: "chat", needsHttps: false },
      credentials: [
        { name: "botToken", isSecret: true },
        { name: "appToken", isSecret: true },
      ],
    },
    {
      ...{ channel: "channel_e", label: "Email", mode: "gateway", hasGroups: false, link: "chat", needsHttps: false },
      credentials: [
        { name: "address", isSecret: false },
        { name: "password", isSecret: true },
        { name: "imap", isSecret: false },
        { name: "smtp", isSecret: false },
        { name: "user", isSecret: false },
        { name: "trustedServer", isSecret: false },
      ],
    },
  ]);
  expect((await createClient(fixture.origin).get("/api/channels")).status).toBe(401);
});

describe("checking a token", () => {
  test("tells whose it is and stores nothing", async () => {
    const { token, bot } = aBot();
    const id = await fixture.provision();
    const { status, body, text } = await check(id, ` ${token} `);
    const { username } = bot;
    const link = `https://t.me/${username}`;
    expect({ status, body }).toEqual({
      status: 200,
      body: { ok: true, bot: { id: String(bot.id), username, name: username, link }, inUseBy: null },
    });
    expect(text).not.toContain("ssss");
    expect(await fixture.channel(id)).toBeUndefined();
    expect(await fixture.rows("SELECT kind FROM credentials WHERE owner_id = ?", id)).toEqual([]);
  });

  test("names another agent that the bot serves, to that agent's owner alone", async () => {
    const { token } = aBot();
    const [id, other] = [await fixture.provision(), await fixture.provision()];
    await fixture.connect(other, token);
    expect((await check(id, token)).body).toMatchObject({ inUseBy: { agentId: other, name: "Harbour" } });
    expect((await check(other, token)).body).toMatchObject({ inUseBy: null });
    const strangersId = await createClient(fixture.origin).join();
    await fixture.kernel.database.write([
      { sql: "UPDATE agents SET user_id = ? WHERE id = ?", args: [strangersId, other] },
    ]);
    await fixture.restart();
    expect((await check(id, token)).body).toMatchObject({ inUseBy: { agentId: null, name: null } });
  });

  test.each([
    ["1234:too-short", "incomplete"],
    ["1234", "incomplete"],
    ["my token", "spaces"],
    ["@harbour_bot", "start"],
    [`1234:${"ä".repeat(35)}`, "characters"],
  ])("says what is wrong with %s before the platform is asked", async (token, problem) => {
    const id = await fixture.provision();
    const calls = fixture.telegram.calls.length;
    expect(await check(id, token)).toMatchObject({
      status: 400,
      body: { code: "INVALID_CHANNEL_TOKEN", problem, issues: [{ path: "token" }] },
    });
    expect(fixture.telegram.calls.length).toBe(calls);
  });

  test.each([
    ["channel_b", "123456789012345678", "id"],
    ["channel_b", "a".repeat(64), "public_key"],
    ["channel_b", "x".repeat(32), "client_secret"],
    ["channel_b", "MTIzNDU2Nzg5MDEyMzQ1Njc4.Gabcde", "incomplete"],
    ["channel_c", "EAAshort", "incomplete"],
    ["channel_c", "+49 151 000", "spaces"],
    ["channel_c", "49151000", "id"],
    ["channel_c", "token", "start"],
  ])("knows what people confuse with the token of %s: %s", async (channel, token, problem) => {
    const id = await fixture.provision();
    expect((await check(id, token, channel)).body).toMatchObject({ code: "INVALID_CHANNEL_TOKEN", problem });
  });

  test("has the errors of connecting, and is only for the owner", async () => {
    const id = await fixture.provision();
    const unknown = await check(id, `99:${"n".repeat(35)}`);
    expect(unknown).toMatchObject({ status: 400, body: { code: "INVALID_CHANNEL_TOKEN" } });
    expect(unknown.body.problem).toBeUndefined();
    const { token } = aBot();
    fixture.telegram.fail("getMe", { status: 502 });
    expect(await check(id, token)).toMatchObject({ status: 502, body: { code: "CHANNEL_UNREACHABLE" } });
    expect(await check(id, token, "channel_z")).toMatchObject({ status: 404, body: { code: "CHANNEL_NOT_FOUND" } });
    const stranger = createClient(fixture.origin);
    await stranger.join();
    const foreign = await stranger.post(`/api/agents/${id}/channels/channel_a/check`, { token });
    expect(foreign).toMatchObject({ status: 404, body: { code: "AGENT_NOT_FOUND" } });
  });
});

describe("a connection that does not work", () => {
  const retry = (id: string) => fixture.owner.post(`/api/agents/${id}/channels/channel_a/retry`, {});

  test("says why and when it is tried next, and is tried at once on request", async () => {
    const { token, bot } = aBot();
    const id = await fixture.provision();
    fixture.telegram.fail("getUpdates", { status: 500 }, { botId: bot.id });
    await fixture.connect(id, token);
    const down = await fixture.inState(id, "backing_off");
    expect(down).toMatchObject({ problem: "unreachable", lastError: expect.stringContaining("Telegram") });
    expect(down?.nextTryAt).toMatch(/Z$/);
    expect((await retry(id)).status).toBe(200);
    expect(await fixture.inState(id, "connected")).toMatchObject({ problem: null, nextTryAt: null });
  });

  test("is not tried when that is useless: refused for good, or the agent is stopped", async () => {
    const { token } = aBot();
    const id = await fixture.provision();
    expect(await retry(id)).toMatchObject({ status: 404, body: { code: "CHANNEL_NOT_CONNECTED" } });
    await fixture.connect(id, token);
    await fixture.setStatus(id, "stopped");
    await fixture.inState(id, "backing_off");
    expect(await fixture.channel(id)).toMatchObject({ problem: "agent_stopped" });
    expect(await retry(id)).toMatchObject({ status: 409, body: { code: "AGENT_STOPPED" } });
    await fixture.setStatus(id, "active");
    fixture.telegram.revoke(token);
    await fixture.inState(id, "failed");
    expect(await fixture.channel(id)).toMatchObject({ problem: "refused" });
    expect(await retry(id)).toMatchObject({ status: 409, body: { code: "CHANNEL_FAILED" } });
  });
});
