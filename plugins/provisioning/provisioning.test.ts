// Tests agents made with channel tokens in one request: answers, refusals, repeated requests, and claims.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { plugin, type ServiceOf } from "../../src/kernel/plugin.ts";
import { DAY } from "../../src/kernel/util/time.ts";
import { type Answer, type Client, createClient } from "../../tests/support/client.ts";
import { startDiscord, tokenFor } from "../../tests/support/discord.ts";
import { eventually } from "../../tests/support/eventually.ts";
import { subscriptionStatement } from "../../tests/support/records.ts";
import { openServer, type TestServer } from "../../tests/support/server.ts";
import { startTelegram } from "../../tests/support/telegram.ts";
import { startWhatsApp } from "../../tests/support/whatsapp.ts";
import { agents } from "../agents/index.ts";
import { auth } from "../auth/index.ts";
import { provisioning } from "./index.ts";
import type { ProvisionResponse } from "./model.ts";

let telegram: Awaited<ReturnType<typeof startTelegram>>;
let discord: Awaited<ReturnType<typeof startDiscord>>;
let whatsapp: Awaited<ReturnType<typeof startWhatsApp>>;
let server: TestServer;
let agentService: ServiceOf<typeof agents>;
let accounts: ServiceOf<typeof auth>;
let service: ServiceOf<typeof provisioning>;
let next = 7_000;

beforeAll(async () => {
  const webhookAddress = (url: string) => url.replace("https://berth.example", server.web);
  [telegram, discord, whatsapp] = await Promise.all([
    startTelegram(),
    startDiscord({ identifyMs: 0 }),
    startWhatsApp({ webhookAddress, https: true }),
  ]);
  const window = plugin("window", (host) => {
    agentService = host.use(agents);
    accounts = host.use(auth);
    service = host.use(provisioning);
    return { service: undefined };
  });
  const env = {
    CHANNEL_A_API_ROOT: telegram.url,
    CHANNEL_A_MODE: "polling",
    CHANNEL_B_API_ROOT: discord.url,
    CHANNEL_C_API_ROOT: whatsapp.url,
    BASE_URL: "https://berth.example",
    RTMP_PORT: "0",
  };
  server = await openServer({ env, plugins: [window] });
  await server.app.start();
});
afterAll(async () => {
  await server?.[Symbol.asyncDispose]();
  await Promise.all([telegram?.stop(), discord?.stop(), whatsapp?.stop()]);
});

/** A bot that serves no agent yet. */
function aBot() {
  const token = `${++next}:secret-part-of-the-token-${next}`;
  return { token, bot: telegram.addBot(token, { username: `bot_${next}` }) };
}
type Refused = { code: string; error: string; issues: { path: string; message: string }[] };
const anonymous = () => createClient(server.web);
/** With the fields of the channels, whose names come from the registry. */
type ProvisionedAgent = ProvisionResponse &
  Record<"channelAToken" | "channelBBotToken" | "channelCToken", string | null>;

const ask = <T = ProvisionedAgent & Refused>(
  body: object,
  by: Client = anonymous(),
  headers: Record<string, string> = {},
) => by.post<T>("/api/provision", body, { headers });
const rows = async (sql: string, ...args: string[]) => (await server.kernel.database.read(sql, args)).rows;
const count = async (table: string) => Number((await rows(`SELECT count(*) AS n FROM ${table}`))[0]?.n);
/** The number of rows in every table that provisioning writes. */
const traces = async () => {
  const tables = ["users", "agents", "agent_configs", "channel_connections", "credentials", "claims", "live_streams"];
  return Object.fromEntries(await Promise.all(tables.map(async (table) => [table, await count(table)])));
};
const claimTokenOf = ({ body }: Answer<ProvisionResponse>) =>
  new URL(body.metadata.claimUrl ?? "").searchParams.get("token") ?? "";

async function member(plan?: string): Promise<Client & { id: string }> {
  const client = anonymous();
  const id = await client.join();
  if (plan) {
    await server.kernel.database.write([subscriptionStatement(id, plan, Date.now() + DAY)]);
    accounts.users.invalidate(id);
  }
  return Object.defineProperties({ id }, Object.getOwnPropertyDescriptors(client)) as Client & { id: string };
}

describe("without a session", () => {
  test("returns every field, and the agent is up and talks", async () => {
    const { token, bot } = aBot();
    const { status, body, headers } = await ask({ channelAToken: token, channelAUserId: 42 });
    expect(status).toBe(201);
    const id = body.agentId;
    expect<ProvisionedAgent>(body).toEqual({
      success: true,
      userId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      agentId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      id,
      channelAToken: `********${token.slice(-4)}`,
      channelBBotToken: null,
      channelCToken: null,
      aiProvider: "provider_1",
      aiProviderConfig: {
        model: expect.any(String),
        baseUrl: expect.stringMatching(/^https:\/\//),
        requiresKey: true,
      },
      plan: "free",
      streamKey: expect.stringMatching(/^\S{32,}$/),
      liveStreamId: expect.any(String),
      rtmpServer: expect.stringMatching(/^rtmp:\/\//),
      playbackUrl: expect.stringMatching(/^https:\/\/berth\.example\//),
      subdomain: expect.stringMatching(/^[a-z0-9-]+$/),
      url: expect.stringMatching(/^https:\/\/berth\.example\//),
      hls: expect.stringMatching(/\.m3u8$/),
      rtmp: expect.stringContaining(body.streamKey ?? "-"),
      status: "active",
      createdAt: expect.stringMatching(/^\d{4}-.*Z$/),
      metadata: {
        channels: { channel_a: "enabled", channel_b: "disabled", channel_c: "disabled" },
        streaming: { provider: expect.any(String), latency: expect.any(String) },
        claimUrl: expect.stringMatching(/^https:\/\/berth\.example\/claim\?token=[\w-]{43}$/),
      },
    });
    expect(headers.get("cache-control")).toBe("no-store");
    expect(await agentService.find(id)).toMatchObject({ userId: body.userId, name: bot.username, status: "active" });
    bot.userSays(43, "let me in");
    bot.userSays(42, "hello");
    await telegram.waitFor(() => bot.sent(42).length === 1);
    expect(bot.sent(43)).toEqual([]);
  });

  test("the agent belongs to a placeholder account with the plan free", async () => {
    const { body } = await ask({ channelAToken: aBot().token, plan: "enterprise" });
    expect(body.plan).toBe("enterprise");
    expect(body).toMatchObject({ warnings: [{ path: "plan" }] });
    expect(await agentService.find(body.id)).toMatchObject({ tier: "enterprise" });
    expect(await accounts.users.byId(body.userId)).toMatchObject({ plan: "free", subscription: null, isAdmin: false });
    const holders = await rows("SELECT user_id FROM agents WHERE id = ?", body.id);
    expect(holders.map(({ user_id }) => user_id)).toEqual([body.userId]);
  });

  test("the provider decides the model, and its key is the agent's own", async () => {
    const key = "gsk-canary-of-the-provider";
    const requestBody = { channelAToken: aBot().token, aiProvider: "provider_3", apiKey: key };
    const { body, text } = await ask(requestBody);
    expect(body).toMatchObject({ aiProvider: "provider_3", aiProviderConfig: { requiresKey: false } });
    expect(JSON.parse(await agentService.configText(body.id))).toEqual({
      model: `provider_3:${body.aiProviderConfig.model}`,
    });
    expect(await agentService.credentials.open(body.id, "provider_3")).toBe(key);
    const stored = JSON.stringify([await rows("SELECT * FROM credentials"), await rows("SELECT * FROM events"), text]);
    expect(stored).not.toContain(key);
    expect(stored).not.toContain(requestBody.channelAToken.slice(6));
  });

  test("tokens may have either field name, and the neutral one counts first", async () => {
    const [first, second] = [aBot(), aBot()];
    const body = { channelAToken: " ", telegramToken: ` ${first.token}\n`, telegramUserId: "42" };
    expect((await ask(body)).body.channelAToken).toBe(`********${first.token.slice(-4)}`);
    const both = await ask({ channelAToken: second.token, telegramToken: "7:nobodys" });
    expect(both.body.channelAToken).toBe(`********${second.token.slice(-4)}`);
    expect(await rows("SELECT owner_id FROM channel_connections WHERE bot_id = ?", String(first.bot.id))).toEqual([
      expect.objectContaining({ owner_id: "42" }),
    ]);
  });

  test("of three channels at once, all bots are connected or none", async () => {
    const [b, waba] = [String(515_151_515_151_515_000n + BigInt(++next)), String(102_290_129_340_000 + next)];
    const given = { channelAToken: aBot().token, channelBBotToken: tokenFor(b), channelCToken: `EAAtokenOf${waba}` };
    const tokens = Object.values(given).map((token) => token.slice(-4));
    const account = whatsapp.addAccount(given.channelCToken, { waba });
    // A refused Discord token is not tried again, so the good one is used later.
    const before = await traces();
    const refused = await ask({ ...given, channelBBotToken: tokenFor(String(BigInt(b) + 500n)) });
    expect(refused).toMatchObject({ status: 400, body: { code: "INVALID_CHANNEL_TOKEN" } });
    expect(refused.body.issues.map(({ path }) => path)).toEqual(["channelBBotToken"]);
    expect(await traces()).toEqual(before);
    expect(account.subscriptions.filter(({ callback }) => callback)).toEqual([]);

    const bot = discord.addBot(given.channelBBotToken, { username: "harbour" });
    const { status, body } = await ask(given);
    expect({ status, channels: body.metadata?.channels }).toEqual({
      status: 201,
      channels: { channel_a: "enabled", channel_b: "enabled", channel_c: "enabled" },
    });
    const shown = [body.channelAToken, body.channelBBotToken, body.channelCToken];
    expect(shown).toEqual(tokens.map((last) => `********${last}`));
    await eventually(() => bot.connected === 1 && account.subscriptions.some(({ callback }) => callback));
    expect((await rows("SELECT 1 FROM channel_connections WHERE agent_id = ?", body.id)).length).toBe(3);
  });

  test("an expired cookie counts as no session, and an invalid key is refused", async () => {
    const requestBody = { channelAToken: aBot().token };
    const old = await ask(requestBody, anonymous(), { cookie: "berth_session=old" });
    expect(old.body.metadata.claimUrl).toBeString();
    const bad = await ask({ channelAToken: aBot().token }, anonymous(), { authorization: "Bearer bk_nobodys" });
    expect(bad).toMatchObject({ status: 401, body: { code: "UNAUTHORIZED" } });
  });
});

describe("a refusal leaves nothing behind:", () => {
  const refused = async (body: object, status: number, code: string, by?: Client) => {
    const before = await traces();
    const answer = await ask(body, by);
    expect({ status: answer.status, code: answer.body.code }).toEqual({ status, code });
    expect(await traces()).toEqual(before);
    return answer.body;
  };

  test("no token at all", async () => {
    for (const body of [{}, { apiKey: "key" }, { channelAToken: "" }, { telegramToken: "  ", channelCToken: "" }]) {
      await refused(body, 400, "CHANNEL_TOKEN_REQUIRED");
    }
  });

  test("an unknown provider or plan, a malformed key, an owner by name", async () => {
    const { token } = aBot();
    const wrong = {
      aiProvider: ["provider_98", "", 1],
      plan: ["starter", "gold", null],
      apiKey: ["a b", "é", {}],
      channelAUserId: ["@ada", 1.5, "-1"],
      channelAToken: [1, null, {}],
    };
    for (const [field, values] of Object.entries(wrong)) {
      for (const value of values) {
        const { issues } = await refused({ channelAToken: token, [field]: value }, 400, "INVALID_INPUT");
        expect(issues.map(({ path }) => path)).toEqual([field]);
      }
    }
  });

  test("fields that are no longer accepted, under both names, all listed", async () => {
    const fields = [
      ["whatsappPhoneNumberId", "whatsappBusinessAccountId", "discordGuildId", "discordChannelId"],
      ["channelCPhoneNumberId", "channelCBusinessAccountId", "channelBGuildId", "channelBChannelId"],
    ].flat();
    for (const field of fields) {
      const { issues } = await refused({ channelAToken: aBot().token, [field]: "1" }, 400, "UNSUPPORTED_FIELD");
      expect(issues.map(({ path }) => path)).toEqual([field]);
    }
    const all = Object.fromEntries(fields.map((field) => [field, null]));
    const { issues } = await refused({ ...all, channelAToken: "7:nobodys" }, 400, "UNSUPPORTED_FIELD");
    expect(issues.map(({ path }) => path).sort()).toEqual(fields.sort());
  });

  test("a token of no bot, with the field it came in", async () => {
    const canary = "77:a-token-that-is-nobodys";
    for (const field of ["channelAToken", "telegramToken"]) {
      const { issues, error } = await refused({ [field]: canary }, 400, "INVALID_CHANNEL_TOKEN");
      expect(issues.map(({ path }) => path)).toEqual([field]);
      expect(error).not.toContain(canary);
    }
  });

  test("an unreachable platform", async () => {
    telegram.fail("getMe", { status: 502 });
    await refused({ channelAToken: aBot().token }, 502, "CHANNEL_UNREACHABLE");
  });

  test("a caller who disconnects during the check of the token", async () => {
    const { token, bot } = aBot();
    const before = await traces();
    telegram.fail("getMe", { slowMs: 1_000 }, { botId: bot.id });
    const gone = new AbortController();
    const response = anonymous().post("/api/provision", { channelAToken: token }, { signal: gone.signal });
    const call = await eventually(() => telegram.calls.find(({ botId }) => botId === bot.id));
    gone.abort();
    await expect(response).rejects.toThrow();
    await eventually(() => call.status === 200);
    expect(await traces()).toEqual(before);
    // The bot stays free for the next request.
    expect((await ask({ channelAToken: token })).status).toBe(201);
  });

  test("a bot that serves another agent, also with many requests at once", async () => {
    const { token } = aBot();
    const answers = await Promise.all(Array.from({ length: 5 }, () => ask({ channelAToken: token })));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409]);
    const { error } = await refused({ channelAToken: token }, 409, "CHANNEL_IN_USE");
    expect(error).toContain(`@bot_${next}`);
    expect(telegram.stats().conflicts).toBe(0);
  });

  test("a write that fails", async () => {
    const sql = `CREATE TRIGGER full BEFORE INSERT ON claims BEGIN SELECT raise(ABORT, 'disk full'); END`;
    await server.kernel.database.write([{ sql, args: [] }]);
    const bot = aBot();
    try {
      await refused({ channelAToken: bot.token }, 500, "INTERNAL");
    } finally {
      await server.kernel.database.write([{ sql: "DROP TRIGGER full", args: [] }]);
    }
    expect(bot.bot.polling).toBe(false);
    expect((await ask({ channelAToken: bot.token })).status).toBe(201);
  });
});

describe("with a session", () => {
  test("that ended during the check of the token, nothing is made", async () => {
    const ada = await member("pro");
    const { token, bot } = aBot();
    const before = await traces();
    const reclaimed = Promise.withResolvers<void>();
    telegram.fail("getMe", { until: reclaimed.promise }, { botId: bot.id });
    const response = ask({ channelAToken: token, channelAUserId: 666 }, ada);
    await eventually(() => telegram.calls.some(({ botId }) => botId === bot.id));
    // The owner of the unverified address takes the account over.
    const unrecorded = () => ({ sql: "SELECT 1", args: [] });
    const link = await accounts.administration.resetPassword(ada.id, unrecorded, "link");
    const reset = { token: new URL(link ?? "").searchParams.get("token"), password: "another horse" };
    expect((await anonymous().post("/api/auth/reset-password", reset)).status).toBe(200);
    reclaimed.resolve();
    expect(await response).toMatchObject({ status: 401, body: { code: "UNAUTHORIZED" } });
    expect(await traces()).toEqual(before);
  });

  test("the agent belongs to the caller, without a claim", async () => {
    const ada = await member("pro");
    const { status, body } = await ask({ channelAToken: aBot().token }, ada);
    expect({ status, userId: body.userId, claim: body.metadata.claimUrl }).toEqual({
      status: 201,
      userId: ada.id,
      claim: undefined,
    });
    expect((await ada.get(`/api/agents/${body.id}`)).body).toMatchObject({ agent: { status: "active", plan: "free" } });
    expect((await ada.get(`/api/agents/${body.id}/channels`)).body).toMatchObject({ count: 1 });
  });

  test("the rules of provisioning apply", async () => {
    const before = await traces();
    const free = await member();
    expect(await ask({ channelAToken: aBot().token, plan: "enterprise" }, free)).toMatchObject({
      status: 402,
      body: { code: "SUBSCRIPTION_REQUIRED" },
    });
    const ada = await member("starter");
    expect((await ask({ channelAToken: aBot().token }, ada)).status).toBe(201);
    expect(await ask({ channelAToken: aBot().token }, ada)).toMatchObject({
      status: 429,
      body: { code: "AGENT_LIMIT_REACHED", current: 1, limit: 1 },
    });
    expect(await traces()).toMatchObject({ agents: Number(before.agents) + 1, claims: before.claims });
  });
});

describe("a lost answer", () => {
  const tokenIn = (url = "") => new URL(url).searchParams.get("token") ?? "";
  type InUse = { code: string; error: string; claimUrl?: string };

  test("can be recovered: a second request with the same tokens is refused with the agent's link", async () => {
    const [a, b] = [aBot(), String(515_151_515_151_515_000n + BigInt(++next))];
    discord.addBot(tokenFor(b), { username: "quay" });
    const requestBody = { channelAToken: a.token, channelBBotToken: tokenFor(b) };
    const first = await ask(requestBody);
    expect(first.status).toBe(201);
    const before = await traces();
    const again = await ask<InUse>(requestBody);
    expect(again).toMatchObject({ status: 409, body: { code: "CHANNEL_IN_USE" } });
    // The first link still works, in case it arrived.
    expect(again.body.claimUrl).toBe(first.body.metadata.claimUrl ?? "");
    expect(again.body.error).toContain("claimUrl");
    expect(await traces()).toEqual(before);
    // A caller with only one of its bots did not make it.
    const part = await ask<InUse>({ channelAToken: a.token });
    expect(part).toMatchObject({ status: 409, body: { code: "CHANNEL_IN_USE" } });
    expect(part.body.claimUrl).toBeUndefined();

    const ada = await member("starter");
    const { status } = await ada.post("/api/provision/claim", { token: tokenIn(again.body.claimUrl) });
    expect(status).toBe(200);
    expect((await ask<InUse>(requestBody)).body).toMatchObject({ code: "CHANNEL_IN_USE" });
    expect((await ask<InUse>(requestBody)).body.claimUrl).toBeUndefined();
  });

  test("is not revealed for an earlier token, and its link is renewed after a change of the root key", async () => {
    const { token, bot } = aBot();
    const { body } = await ask({ channelAToken: token });
    await server.kernel.database.write([
      { sql: "UPDATE claims SET token_hash = 'of another key' WHERE agent_id = ?", args: [body.id] },
    ]);
    const link = (await ask<InUse>({ channelAToken: token })).body.claimUrl;
    await server.kernel.database.write([
      { sql: "UPDATE channel_connections SET token_digest = 'another' WHERE bot_id = ?", args: [String(bot.id)] },
    ]);
    expect((await ask<InUse>({ channelAToken: token })).body.claimUrl).toBeUndefined();
    const ada = await member("starter");
    expect((await ada.post("/api/provision/claim", { token: tokenIn(link) })).status).toBe(200);
  });
});

describe("an Idempotency-Key", () => {
  test("returns the first answer again, without its secrets, and repeats no work", async () => {
    const requestBody = { channelAToken: aBot().token };
    const headers = { "idempotency-key": crypto.randomUUID() };
    const first = await ask(requestBody, anonymous(), headers);
    const before = await traces();
    const again = await ask(requestBody, anonymous(), headers);
    expect(again.headers.get("idempotency-replayed")).toBe("true");
    const { metadata, ...rest } = first.body;
    expect(again).toMatchObject({ status: 201 });
    expect(again.body).toEqual({
      ...rest,
      streamKey: null,
      rtmp: null,
      metadata: { ...metadata, claimUrl: null },
    } as never);
    expect(await traces()).toEqual(before);
    expect(await ask({ ...requestBody, plan: "pro" }, anonymous(), headers)).toMatchObject({
      status: 409,
      body: { code: "IDEMPOTENCY_MISMATCH" },
    });
    const kept = JSON.stringify(await rows("SELECT body FROM idempotency_keys"));
    expect(kept).not.toContain(first.body.streamKey ?? "-");
    expect(kept).not.toContain(claimTokenOf(first));
  });

  test("is not kept for a refusal: the request may be repeated", async () => {
    const headers = { "idempotency-key": crypto.randomUUID() };
    const { token } = aBot();
    telegram.fail("getMe", { status: 502 });
    expect((await ask({ channelAToken: token }, anonymous(), headers)).status).toBe(502);
    expect((await ask({ channelAToken: token }, anonymous(), headers)).status).toBe(201);
  });
});

describe("a claim", () => {
  const claim = (by: Client, token: string) => by.post<Refused & { id: string }>("/api/provision/claim", { token });

  test("transfers the agent with its bot and usage, and deletes the placeholder account", async () => {
    const { token, bot } = aBot();
    const made = await ask({ channelAToken: token, channelAUserId: 42 });
    const { id, userId } = made.body;
    await telegram.waitFor(() => bot.polling);
    const used = `INSERT INTO usage (id, at, kind, user_id, agent_id, provider, model, input_tokens, output_tokens,
      cost_micro_usd, latency_ms, estimated, own_key, credit_micro_usd, cached)
      VALUES ('u1', ?, 'turn', ?, ?, 'provider_1', 'm', 1, 1, 500, 1, 0, 0, 0, 0)`;
    await server.kernel.database.write([{ sql: used, args: [Date.now(), userId, id] }]);
    const ada = await member("starter");
    expect(await claim(ada, claimTokenOf(made))).toMatchObject({
      status: 200,
      body: { success: true, agentId: id, id },
    });
    expect(await agentService.find(id)).toMatchObject({ userId: ada.id, status: "active" });
    expect((await ada.get<{ agents: { id: string }[] }>("/api/agents")).body.agents.map((agent) => agent.id)).toEqual([
      id,
    ]);
    expect((await ada.get(`/api/agents/${id}/channels`)).body).toMatchObject({
      channels: [{ state: "connected" }],
    });
    expect((await ada.get("/api/usage")).text).toContain("0.0005");
    expect(await accounts.users.byId(userId)).toBeUndefined();
    expect(await rows("SELECT user_id FROM usage_days WHERE agent_id = ?", id)).toEqual([
      expect.objectContaining({ user_id: ada.id }),
    ]);
    const events = await server.kernel.events.since(0, { agentId: id });
    expect(events.at(-1)).toMatchObject({ type: "agent.claimed", userId: ada.id, data: { id } });
    // Its bot stayed connected.
    bot.userSays(42, "hello");
    await telegram.waitFor(() => bot.sent(42).length === 1);
  });

  test("works once, and not with an invalid token", async () => {
    const made = await ask({ channelAToken: aBot().token });
    const [ada, bob] = [await member("starter"), await member("starter")];
    expect((await claim(ada, claimTokenOf(made))).status).toBe(200);
    for (const token of [claimTokenOf(made), "nobodys", "x".repeat(200)]) {
      expect(await claim(bob, token)).toMatchObject({ status: 404, body: { code: "CLAIM_NOT_FOUND" } });
    }
    expect((await claim(bob, "")).status).toBe(400);
    expect(await agentService.find(made.body.id)).toMatchObject({ userId: ada.id });
  });

  test("succeeds for one account, also with many requests at once", async () => {
    const made = await ask({ channelAToken: aBot().token });
    const all = await Promise.all(Array.from({ length: 6 }, () => member("starter")));
    const answers = await Promise.all(all.map((one) => claim(one, claimTokenOf(made))));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 404, 404, 404, 404, 404]);
    const winner = all[answers.findIndex(({ status }) => status === 200)];
    expect(await agentService.find(made.body.id)).toMatchObject({ userId: winner?.id });
  });

  test("needs a session and room in the plan, and stays valid until then", async () => {
    const made = await ask({ channelAToken: aBot().token });
    const token = claimTokenOf(made);
    expect((await claim(anonymous(), token)).status).toBe(401);
    expect(await claim(await member(), token)).toMatchObject({ status: 402, body: { code: "SUBSCRIPTION_REQUIRED" } });
    const ada = await member("starter");
    await ask({ channelAToken: aBot().token }, ada);
    expect(await claim(ada, token)).toMatchObject({
      status: 429,
      body: { code: "AGENT_LIMIT_REACHED", current: 1, limit: 1 },
    });
    expect((await claim(await member("pro"), token)).status).toBe(200);
  });

  test("is refused if an admin has disabled the placeholder account", async () => {
    const made = await ask({ channelAToken: aBot().token });
    const disable = { sql: "UPDATE users SET disabled_at = 1 WHERE id = ?", args: [made.body.userId] };
    await server.kernel.database.write([disable]);
    accounts.users.invalidate(made.body.userId);
    expect((await claim(await member("starter"), claimTokenOf(made))).body).toMatchObject({ code: "CLAIM_NOT_FOUND" });
  });

  test("repeated with its key gets the same answer", async () => {
    const made = await ask({ channelAToken: aBot().token });
    const ada = await member("starter");
    const headers = { "idempotency-key": crypto.randomUUID() };
    const send = () => ada.post("/api/provision/claim", { token: claimTokenOf(made) }, { headers });
    const [first, again] = [await send(), await send()];
    expect(first.status).toBe(200);
    expect(again.body).toEqual(first.body);
  });

  test("does not transfer the former owner's access", async () => {
    const made = await ask({ channelAToken: aBot().token });
    const { id } = made.body;
    const token = "INSERT INTO gateway_tokens (agent_id, hash, sealed, created_at) VALUES (?, 'h', 's', 0)";
    await server.kernel.database.write([{ sql: token, args: [id] }]);
    expect((await claim(await member("starter"), claimTokenOf(made))).status).toBe(200);
    expect(await rows("SELECT 1 FROM gateway_tokens WHERE agent_id = ?", id)).toEqual([]);
  });

  test("that is not used within 7 days expires: agent, connection and placeholder account are removed", async () => {
    const { token, bot } = aBot();
    const made = await ask({ channelAToken: token });
    const other = await ask({ channelAToken: aBot().token });
    const { id, userId } = made.body;
    await telegram.waitFor(() => bot.polling);
    const [row] = await rows("SELECT expires_at FROM claims WHERE agent_id = ?", id);
    expect(Math.abs(Number(row?.expires_at) - Date.now() - 7 * 86_400_000)).toBeLessThan(60_000);
    await server.kernel.database.write([{ sql: "UPDATE claims SET expires_at = 1 WHERE agent_id = ?", args: [id] }]);
    expect((await claim(await member("starter"), claimTokenOf(made))).status).toBe(404);
    // The state after a crash between the two steps.
    await agentService.remove(id);
    await service.removeExpired();
    expect(await agentService.find(id)).toBeUndefined();
    expect(await accounts.users.byId(userId)).toBeUndefined();
    expect(await rows("SELECT 1 FROM claims WHERE agent_id = ?", id)).toEqual([]);
    await eventually(() => !bot.polling);
    expect((await ask({ channelAToken: token })).status).toBe(201);
    expect(await agentService.find(other.body.id)).toBeDefined();
  });
});

test("the page offers the claim and does not leak the token", async () => {
  const { status, headers, text } = await anonymous().get("/claim?token=t0k3n");
  expect(status).toBe(200);
  expect(text).toContain("Claim your agent");
  expect(text).not.toContain("t0k3n");
  expect(headers.get("referrer-policy")).toBe("no-referrer");
  expect(headers.get("cache-control")).toBe("no-store");
  expect(headers.get("content-security-policy")).not.toMatch(/unsafe|https?:|\*/);
});
