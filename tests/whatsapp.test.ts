// WhatsApp on the whole binary, against a strict fake of the Graph API that posts webhooks.

import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { type Berth, startBerth } from "./support/berth.ts";
import { type Client, createClient } from "./support/client.ts";
import { eventually } from "./support/eventually.ts";
import { member, provision } from "./support/members.ts";
import { expectRefusal } from "./support/refusal.ts";
import { startUpstream, type Upstream } from "./support/upstream.ts";
import { type AccountAbout, type FakeAccount, startWhatsApp, type WhatsApp } from "./support/whatsapp.ts";

const ADA = "15550001111";
const APP = { id: "9001", secret: "the-operators-app-secret" };

let whatsapp: WhatsApp;
let upstream: Upstream;
let berth: Berth;
let owner: Client;
let serial = 0;

beforeAll(async () => {
  // Meta posts to the public address; a reverse proxy would forward that to the web listener.
  const webhookAddress = (url: string) => url.replace("https://berth.example", berth.web);
  whatsapp = await startWhatsApp({ webhookAddress, https: true, webhookRetryMs: 20 });
  whatsapp.addApp(APP.id, APP.secret);
  const architecture = { input_modalities: ["text", "image"], output_modalities: ["text"] };
  upstream = await startUpstream({ models: [{ id: "fake-small", architecture }] });
  upstream.script(({ lastUser }) => ({ text: `**echo:** ${lastUser}` }));
  berth = await startBerth({
    env: {
      BASE_URL: "https://berth.example",
      CHANNEL_C_API_ROOT: whatsapp.url,
      CHANNEL_C_APP_ID: APP.id,
      CHANNEL_C_APP_SECRET: APP.secret,
      PROVIDER_3_BASE_URL: upstream.url,
      MODEL_A: "provider_3:fake-small",
      RATE_LIMITS: "off",
    },
  });
  owner = await member(berth, "enterprise");
});
afterAll(async () => {
  await berth?.[Symbol.asyncDispose]();
  await upstream?.[Symbol.asyncDispose]();
  await whatsapp?.stop();
});

interface Bot {
  id: string;
  account: FakeAccount;
  token: string;
  waba: string;
}

/** Creates an agent with its own business account. */
async function connected(about: Partial<AccountAbout> = {}, config: object = {}): Promise<Bot> {
  serial += 1;
  const [token, waba] = [`EAAtokenOfAccount${serial}`, String(102290129340000 + serial)];
  const account = whatsapp.addAccount(token, { waba, ...about });
  const { id } = await provision(owner, `Agent ${serial}`, { channels: { channel_c: { access: "open" } }, ...config });
  const { status, body } = await owner.put(`/api/agents/${id}/channels/channel_c`, { token, ownerId: ADA });
  expect({ status, body }).toMatchObject({
    status: 200,
    body: { success: true, channel: "channel_c", state: "connected", bot: { id: waba, username: "+15550009999" } },
  });
  return { id, account, token, waba };
}

const replies = ({ account }: Bot) => account.sent(ADA).map(({ text }) => text);
const callbackOf = ({ account }: Bot) => new URL(account.subscriptions[0]?.callback ?? "").pathname;
async function logs({ id }: Bot): Promise<string[]> {
  const { body } = await owner.get<{ logs: { message: string }[] }>(`/api/agents/${id}/logs?limit=100`);
  return body.logs.map(({ message }) => message);
}

describe("connecting", () => {
  test("needs only the token, which no response shows; an account serves one agent", async () => {
    const bot = await connected();
    const { text } = await owner.get(`/api/agents/${bot.id}/channels`);
    expect(JSON.parse(text)).toMatchObject({
      channels: [{ channel: "channel_c", state: "connected", mode: "webhook" }],
    });
    expect(text).not.toContain(bot.token);
    expect(callbackOf(bot)).toMatch(/^\/hooks\/channel_c\/[\w-]{64}$/);
    const other = await provision(owner, "Another");
    const twice = await owner.put(`/api/agents/${other.id}/channels/channel_c`, { token: bot.token });
    expectRefusal(twice, 409, "CHANNEL_IN_USE");
    expect(berth.output().stdout + berth.output().stderr).not.toContain(bot.token);
  });

  test("a token without a permission is rejected with advice", async () => {
    whatsapp.addAccount("EAAwithoutMessaging", { waba: "300", scopes: ["whatsapp_business_management"] });
    const { id } = await provision(owner);
    const refused = async (token: string) =>
      expectRefusal(await owner.put(`/api/agents/${id}/channels/channel_c`, { token }), 400, "INVALID_CHANNEL_TOKEN");
    expect((await refused("EAAwithoutMessaging")).error).toContain("whatsapp_business_messaging");
    expect((await refused("EAAnobodysToken")).error).toContain("access token");
    await refused("no token at all");
  });

  test("disconnecting removes the callback, whose address accepts no more posts", async () => {
    const bot = await connected();
    const path = callbackOf(bot);
    expect((await owner.delete(`/api/agents/${bot.id}/channels/channel_c`)).status).toBe(200);
    expect(bot.account.subscriptions).toEqual([{ app: "9001", callback: undefined }]);
    expectRefusal(await createClient(berth).post(path, {}), 404);
  });
});

test("deleting an agent removes its callback, also for an idle agent after a restart", async () => {
  const bots = [await connected(), await connected()];
  await berth.restart({ keepPorts: true });
  const [running, stopped] = bots;
  expect((await owner.post(`/api/agents/${stopped?.id}/stop`)).status).toBe(200);
  expect(stopped?.account.subscriptions[0]?.callback).toBeString();
  for (const { id } of bots) expect((await owner.delete(`/api/agents/${id}`)).status).toBe(200);
  for (const bot of [running, stopped])
    expect(bot?.account.subscriptions).toEqual([{ app: "9001", callback: undefined }]);
});

describe("messages", () => {
  test("get one reply each that quotes them; a second delivery changes nothing", async () => {
    const bot = await connected();
    const messageId = bot.account.says("hello");
    await whatsapp.waitFor(() => replies(bot).length === 1, 10_000);
    bot.account.repeats(messageId);
    bot.account.repeats(messageId);
    bot.account.says("and now?");
    await whatsapp.waitFor(() => replies(bot).length === 2 && bot.account.pending() === 0, 10_000);
    expect(replies(bot)).toEqual(["*echo:* hello", "*echo:* and now?"]);
    expect(bot.account.sent(ADA)[0]).toMatchObject({ replyTo: messageId, previewUrl: false });
  });

  test("show typing while the reply is generated", async () => {
    const bot = await connected();
    upstream.script(({ lastUser }) => ({ text: lastUser, delayMs: lastUser === "think" ? 1_500 : 0 }));
    const messageId = bot.account.says("think");
    await whatsapp.waitFor(() => bot.account.typing().length > 0, 10_000);
    expect(bot.account.typing()[0]).toMatchObject({ messageId });
    await whatsapp.waitFor(() => replies(bot).length === 1, 10_000);
    upstream.script(({ lastUser }) => ({ text: `**echo:** ${lastUser}` }));
  });

  test("to several numbers are answered from the same number", async () => {
    const numbers = [
      { id: "106540352242922", display: "+1 555-000-9999" },
      { id: "106540352242923", display: "+1 555-000-8888" },
    ];
    const bot = await connected({ numbers });
    for (const { id } of numbers) bot.account.says(`to ${id}`, { number: id });
    await whatsapp.waitFor(() => bot.account.sent().length === 2, 10_000);
    const sent = bot.account.sent().map(({ number, text }) => [number, text]);
    expect(new Map(sent as [string, string][])).toEqual(new Map(numbers.map(({ id }) => [id, `*echo:* to ${id}`])));
  });

  test("with a photo reach a model with picture input, byte for byte", async () => {
    const bot = await connected();
    const photo = Buffer.from("\xff\xd8\xff\xe0 a photograph", "latin1");
    bot.account.sendsFile("image", photo, { mime: "image/jpeg", caption: "What is this?" });
    await whatsapp.waitFor(() => replies(bot).length === 1, 10_000);
    expect(upstream.chats.at(-1)?.messages.at(-1)?.content as unknown).toEqual([
      { type: "text", text: "[photo]\nWhat is this?" },
      { type: "image_url", image_url: { url: `data:image/jpeg;base64,${photo.toString("base64")}` } },
    ]);
  });

  test("of the owner are recognised by the phone number, with any other id; unknown users are ignored", async () => {
    const bot = await connected({}, { channels: {} });
    bot.account.says("let me in", { from: "15550003333", userId: "US.3333" });
    bot.account.says("it's me", { userId: "US.1111" });
    await whatsapp.waitFor(() => replies(bot).length === 1, 10_000);
    await eventually(() => bot.account.pending() === 0);
    expect(bot.account.sent().map(({ to }) => to)).toEqual([ADA]);
  });

  test("to a stopped agent wait at WhatsApp until it is started", async () => {
    const bot = await connected();
    expect((await owner.post(`/api/agents/${bot.id}/stop`)).status).toBe(200);
    bot.account.says("are you there?");
    await whatsapp.waitFor(() => whatsapp.stats().refusedPosts > 0);
    expect(bot.account.pending()).toBe(1);
    expect((await owner.post(`/api/agents/${bot.id}/start`)).status).toBe(200);
    await whatsapp.waitFor(() => replies(bot).length === 1, 15_000);
    expect(bot.account.pending()).toBe(0);
  });
});

describe("posts", () => {
  const event = (waba: string, number: string) => ({
    object: "whatsapp_business_account",
    entry: [
      {
        id: waba,
        changes: [
          {
            field: "messages",
            value: {
              metadata: { phone_number_id: number },
              contacts: [{ wa_id: ADA }],
              messages: [{ from: ADA, id: "wamid.forged", timestamp: "1", type: "text", text: { body: "forged" } }],
            },
          },
        ],
      },
    ],
  });

  test("for the operator's app must be signed with its secret", async () => {
    const bot = await connected();
    const path = callbackOf(bot);
    const forged = event(bot.waba, `1${bot.waba}`);
    const sign = (secret: string) =>
      `sha256=${new Bun.CryptoHasher("sha256", secret).update(JSON.stringify(forged)).digest("hex")}`;
    const visitor = createClient(berth);
    for (const headers of [{}, { "x-hub-signature-256": "" }, { "x-hub-signature-256": sign("guess") }]) {
      expectRefusal(await visitor.post(path, forged, { headers }), 401, "UNAUTHORIZED");
    }
    expectRefusal(await visitor.get(`${path}?hub.mode=subscribe&hub.challenge=1&hub.verify_token=guess`), 401);
    expectRefusal(await visitor.post(`${path.slice(0, -4)}AAAA`, forged), 404);
    expect(replies(bot)).toEqual([]);
    const headers = { "x-hub-signature-256": sign(APP.secret) };
    expect((await visitor.post(path, forged, { headers })).status).toBe(200);
  });

  test("for another app need the secret address, and only count for its own account", async () => {
    const bot = await connected({ app: "7777" });
    const post = (waba: string, number: string) => createClient(berth).post(callbackOf(bot), event(waba, number));
    // The database does not contain the whole address.
    const [row] = rows("SELECT * FROM channel_connections WHERE agent_id = ?", bot.id);
    const address = `/hooks/channel_c/${row?.callback_id}`;
    expect(JSON.stringify(row)).not.toContain(callbackOf(bot).slice(-32));
    for (const key of ["", "x".repeat(32)]) {
      expectRefusal(await createClient(berth).post(`${address}${key}`, event(bot.waba, `1${bot.waba}`)), 404);
    }
    expect((await post("999", `1${bot.waba}`)).status).toBe(200);
    expect((await post(bot.waba, "999")).status).toBe(200);
    bot.account.says("hello");
    await whatsapp.waitFor(() => replies(bot).length === 1, 10_000);
    expect(replies(bot)).toEqual(["*echo:* hello"]);
  });
});

describe("when a reply is lost", () => {
  test("more than 24 hours after the user's message, the owner gets a log line and an event", async () => {
    const bot = await connected();
    upstream.script(({ lastUser }) => ({ text: lastUser, delayMs: 300 }));
    for (const when of ["now", "later"] as const) {
      bot.account.says(`lost ${when}`);
      await whatsapp.waitFor(() => bot.account.pending() === 0);
      bot.account.closesWindow(ADA, when);
      const line =
        when === "now" ? "was not delivered: More than 24 hours" : "did not reach its reader: More than 24 hours";
      await eventually(async () => (await logs(bot)).some((message) => message.includes(line)), { timeoutMs: 10_000 });
    }
    upstream.script(({ lastUser }) => ({ text: `**echo:** ${lastUser}` }));
    expect(replies(bot)).toEqual([]);
    const events = await eventually(() => {
      const found = rows("SELECT data FROM events WHERE agent_id = ? AND type = 'channel.undelivered'", bot.id);
      return found.length === 2 ? found : undefined;
    });
    for (const { data } of events) {
      expect(JSON.parse(String(data))).toEqual({
        agentId: bot.id,
        channel: "channel_c",
        reason: expect.stringContaining("24 hours"),
      });
    }
  });

  test("because of a revoked token, the channel fails with advice", async () => {
    const bot = await connected();
    whatsapp.fail("messages", { status: 401, code: 190 }, { token: bot.token });
    bot.account.says("hello");
    const failed = await eventually(async () => {
      const { body } = await owner.get<{ channels: { state: string; lastError: string }[] }>(
        `/api/agents/${bot.id}/channels`,
      );
      return body.channels.find(({ state }) => state === "failed");
    });
    expect(failed.lastError).toContain("connect the channel again");
  });
});

describe("a kill", () => {
  test("after WhatsApp accepted a reply: its status prevents a second one", async () => {
    const bot = await connected();
    whatsapp.fail("messages", { slowMs: 60_000 }, { when: "after", token: bot.token });
    bot.account.says("hello");
    await whatsapp.waitFor(() => replies(bot).length === 1, 10_000);
    await berth.kill();
    await berth.restart({ keepPorts: true });
    await eventually(() => rows("SELECT status FROM outbox WHERE agent_id = ?", bot.id)[0]?.status === "sent", {
      timeoutMs: 15_000,
    });
    expect(replies(bot)).toEqual(["*echo:* hello"]);
  });

  test("after the answer: WhatsApp posts the message again after the start, and it is not answered again", async () => {
    const bot = await connected();
    const messageId = bot.account.says("hello");
    await whatsapp.waitFor(() => replies(bot).length === 1, 10_000);
    await berth.kill();
    bot.account.repeats(messageId);
    await berth.restart({ keepPorts: true });
    bot.account.repeats(messageId);
    bot.account.says("and now?");
    await whatsapp.waitFor(() => replies(bot).length === 2 && bot.account.pending() === 0, 20_000);
    expect(replies(bot)).toEqual(["*echo:* hello", "*echo:* and now?"]);
    expect(rows("SELECT content FROM inbox WHERE agent_id = ? ORDER BY id", bot.id)).toHaveLength(2);
  });

  test("before WhatsApp accepted a reply: it is sent after the start", async () => {
    const bot = await connected();
    whatsapp.fail("messages", "hang", { token: bot.token });
    bot.account.says("hello");
    await whatsapp.waitFor(
      ({ calls }) => calls.some(({ kind, path }) => kind === "messages" && path.includes(bot.waba)),
      10_000,
    );
    await berth.kill();
    bot.account.says("and while you were away?");
    await berth.restart({ keepPorts: true });
    await whatsapp.waitFor(() => replies(bot).length === 2, 20_000);
    expect(replies(bot)).toEqual(["*echo:* hello", "*echo:* and while you were away?"]);
  });
});

function rows(sql: string, ...args: string[]): Record<string, unknown>[] {
  using db = new Database(join(berth.dir, "data", "berth.db"), { readonly: true });
  return db.query<Record<string, unknown>, string[]>(sql).all(...args);
}
