// A database server whose answers get lost: what it has stored is taken up all the same, once, without a restart.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Berth, startBerth } from "./support/berth.ts";
import type { Client } from "./support/client.ts";
import { eventually } from "./support/eventually.ts";
import { type AgentItem, member, provision } from "./support/members.ts";
import { startSqld } from "./support/sqld.ts";
import { type SqldProxy, startSqldProxy } from "./support/sqld-proxy.ts";
import { type FakeBot, startTelegram, type Telegram } from "./support/telegram.ts";
import { startUpstream, type Upstream } from "./support/upstream.ts";

const TOKEN = `100001:${"lost-answers-test-token-of-a-bot".padEnd(35, "x")}`;

const OTHER_TOKEN = TOKEN.replace("100001", "100002");

const stack = new AsyncDisposableStack();
let proxy: SqldProxy;
let berth: Berth;
let upstream: Upstream;
let ada: Client;
let agent: AgentItem;
let bot: FakeBot;
let telegram: Telegram;

beforeAll(async () => {
  const sqld = stack.adopt(await startSqld(), ({ stop }) => stop());
  telegram = stack.adopt(await startTelegram(), ({ stop }) => stop());
  upstream = stack.use(await startUpstream());
  upstream.script(({ lastUser }) => ({ text: `echo: ${lastUser}` }));
  proxy = stack.use(await startSqldProxy(sqld.url));
  berth = stack.use(
    await startBerth({
      env: {
        DATABASE_URL: proxy.url,
        CHANNEL_A_API_ROOT: telegram.url,
        PROVIDER_3_BASE_URL: upstream.url,
        MODEL_A: "provider_3:fake-small",
      },
    }),
  );
  ada = await member(berth);
  bot = telegram.addBot(TOKEN);
  agent = await provision(ada, "Harbour", { channels: { channel_a: { access: "open" } } });
  expect((await ada.put(`/api/agents/${agent.id}/channels/channel_a`, { token: TOKEN })).status).toBe(200);
});
afterAll(() => stack.disposeAsync());

const answers = (chat: number) => bot.sent(chat).map(({ text }) => text);

test("a message that was stored without an answer is answered once, before the ones after it", async () => {
  const lost = proxy.loseAnswer('insert into "inbox"');
  bot.userSays(1, "first");
  await lost;
  bot.userSays(1, "second");
  await eventually(() => answers(1).length === 2, { timeoutMs: 20_000, what: "both are answered" });
  expect(answers(1)).toEqual(["echo: first", "echo: second"]);
});

test("a reply that was stored without an answer is delivered once, and its model is not called again", async () => {
  const calls = upstream.requests.length;
  const lost = proxy.loseAnswer('insert into "outbox"');
  bot.userSays(2, "a question");
  await lost;
  await eventually(() => answers(2).length > 0, { timeoutMs: 20_000, what: "it is answered" });
  bot.userSays(2, "another question");
  await eventually(() => answers(2).length > 1, { timeoutMs: 20_000, what: "the next one is answered" });
  expect(answers(2)).toEqual(["echo: a question", "echo: another question"]);
  expect(upstream.requests.length - calls).toBe(2);
});

test("a message of the console that was stored without an answer is said to be in doubt, and is answered", async () => {
  const lost = proxy.loseAnswer('insert into "inbox"');
  const [sent] = await Promise.all([
    ada.post(`/api/agents/${agent.id}/conversations`, { message: "Are you there?" }),
    lost,
  ]);
  expect(sent).toMatchObject({
    status: 503,
    body: { code: "DATABASE_UNAVAILABLE", error: expect.stringContaining("is not known") },
  });
  await eventually(
    async () => (await ada.get(`/api/agents/${agent.id}/conversations`)).text.includes("Are you there?"),
    {
      timeoutMs: 20_000,
    },
  );
  const { body } = await ada.get<{ conversations: { id: string }[] }>(`/api/agents/${agent.id}/conversations`);
  const id = body.conversations[0]?.id;
  await eventually(
    async () => (await ada.get(`/api/agents/${agent.id}/conversations/${id}`)).text.includes("echo: Are you there?"),
    { timeoutMs: 20_000, what: "it is answered" },
  );
});

test("a bot that was connected and removed without an answer comes up, and goes", async () => {
  const { id } = await provision(ada, "Lighthouse", { channels: { channel_a: { access: "open" } } });
  const path = `/api/agents/${id}/channels/channel_a`;
  const other = telegram.addBot(OTHER_TOKEN);
  const connecting = proxy.loseAnswer('insert into "credentials"');
  expect((await ada.put(path, { token: OTHER_TOKEN })).status).toBe(503);
  await connecting;
  other.userSays(3, "Hello");
  await eventually(() => other.sent(3).length === 1, { timeoutMs: 20_000, what: "the bot answers" });

  const removing = proxy.loseAnswer('delete from "channel_connections"');
  expect((await ada.delete(path)).status).toBe(503);
  await removing;
  await eventually(() => !other.polling, { timeoutMs: 20_000, what: "nobody asks for its messages" });
});
