// Deletes accounts during activity: bots, turns and sockets stop, and the database keeps no row of the user.

import { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { type Berth, startBerth } from "./support/berth.ts";
import { type Client, createClient } from "./support/client.ts";
import { eventually } from "./support/eventually.ts";
import { openGateway } from "./support/gateway-client.ts";
import { type AgentItem, member, provision } from "./support/members.ts";
import { expectRefusal } from "./support/refusal.ts";
import { type FakeBot, startTelegram, type Telegram } from "./support/telegram.ts";
import { startUpstream, type Upstream } from "./support/upstream.ts";

const CANARY = "canary-of-ada";
const CHAT = 4_711;
let upstream: Upstream;
let telegram: Telegram;
let made = 0;

beforeAll(async () => {
  [upstream, telegram] = await Promise.all([startUpstream(), startTelegram()]);
});
afterAll(async () => {
  await telegram?.stop();
  await upstream?.stop();
});

const start = (env: Record<string, string> = {}) =>
  startBerth({
    env: {
      CHANNEL_A_API_ROOT: telegram.url,
      PROVIDER_3_BASE_URL: upstream.url,
      MODEL_A: "provider_3:fake-small",
      RATE_LIMITS: "off",
      ...env,
    },
  });

/** Creates a user with an agent that is connected to a bot. */
async function userWithBot(
  berth: Berth,
  name = CANARY,
): Promise<{ ada: Client; id: string; agent: AgentItem; bot: FakeBot }> {
  const ada = await member(berth);
  const { id } = (await ada.get<{ id: string }>("/api/settings")).body;
  const access = { channel_a: { access: "open" } };
  const agent = await provision(ada, name, { channels: access, instructions: name });
  const token = `${200_000 + ++made}:${"a-bot-of-the-deletion-test".padEnd(35, "x")}`;
  const bot = telegram.addBot(token);
  const { status, text } = await ada.put(`/api/agents/${agent.id}/channels/channel_a`, { token });
  if (status !== 200) throw new Error(text);
  return { ada, id, agent, bot };
}

const remove = (client: Client) => client.delete("/api/settings", { password: client.account.password });

/** The tables that contain one of these texts. */
function tablesWith(berth: Berth, ...texts: string[]): string[] {
  using database = new Database(join(berth.dir, "data/berth.db"), { readonly: true });
  const tables = database.query<{ name: string }, []>("SELECT name FROM sqlite_master WHERE type = 'table'").all();
  const holds = (name: string) => {
    const rows = JSON.stringify(database.query(`SELECT * FROM "${name}"`).all());
    return texts.some((text) => rows.includes(text));
  };
  return tables.flatMap(({ name }) => (holds(name) ? [name] : [])).sort();
}

test("a deletion during turns ends bots, turns and sockets, not those of others, and leaves no data", async () => {
  upstream.script(({ lastUser }) => ({ text: `echo: ${lastUser}` }));
  await using berth = await start();
  const { ada, id, agent, bot } = await userWithBot(berth);
  const eve = await userWithBot(berth, "Harbour");
  await eventually(() => bot.polling);
  bot.userSays(CHAT, `${CANARY} says hello`);
  await eventually(() => bot.sent(CHAT).length === 1);
  const { cookie, account } = ada;
  const gateway = openGateway(berth, agent.id, { cookie });
  gateway.send({ type: "ping" });
  await gateway.next("pong");

  upstream.script(() => ({ hang: true }));
  bot.userSays(CHAT, `${CANARY} never hears of this`);
  const unfinished = ada.post("/api/agent", { message: `${CANARY} asks` });
  await eventually(() => upstream.open === 2);

  const answer = await remove(ada);
  expect({ status: answer.status, body: answer.body }).toEqual({
    status: 200,
    body: { success: true, message: expect.any(String) },
  });
  expect(ada.cookie).toBe("");
  expect((await gateway.closed).code).toBe(4401);
  expect((await unfinished).status).toBeGreaterThanOrEqual(400);
  await eventually(() => upstream.open === 0);
  await eventually(() => !bot.polling);
  bot.userSays(CHAT, "Is anybody there?");

  expectRefusal(await createClient(berth).get("/api/settings", { headers: { cookie } }), 401, "UNAUTHORIZED");
  const signIn = await createClient(berth).post("/api/auth/callback/credentials", account);
  expectRefusal(signIn, 401, "BAD_CREDENTIALS");
  upstream.script(({ lastUser }) => ({ text: `echo: ${lastUser}` }));
  eve.bot.userSays(CHAT, "And you?");
  await eventually(() => eve.bot.sent(CHAT).length === 1);
  expect(bot.sent(CHAT)).toHaveLength(1);
  expect(bot.pending()).toBe(1);

  expect(await berth.stop()).toBe(0);
  // These tables keep what happened and what was spent, under ids that belong to no account any more.
  expect(tablesWith(berth, id, agent.id)).toEqual([
    "audit_log",
    "events",
    "usage",
    "usage_account_days",
    "usage_agent_months",
    "usage_days",
  ]);
  expect(tablesWith(berth, account.email)).toEqual(["audit_log", "events"]);
  // The name of the agent; what was said to it is nowhere.
  expect(tablesWith(berth, CANARY)).toEqual(["audit_log", "events"]);
  expect(tablesWith(berth, `${CANARY} asks`)).toEqual([]);
  using database = new Database(join(berth.dir, "data/berth.db"), { readonly: true });
  const types = database.query<{ type: string }, [string]>("SELECT type FROM events WHERE user_id = ? ORDER BY seq");
  expect(types.all(id).at(-1)).toEqual({ type: "user.deleted" });

  await berth.restart();
  const again = createClient(berth);
  expect(await again.join({ email: account.email })).not.toBe(id);
  expect((await again.get("/api/agents")).body).toMatchObject({ count: 0 });
  await eventually(() => eve.bot.polling);
  expect(bot.polling).toBe(false);
});

test("a deletion removes the bot's webhook; after a kill halfway the account can be deleted again", async () => {
  await using berth = await start({ CHANNEL_A_MODE: "webhook" });
  const { ada, id, agent, bot } = await userWithBot(berth);
  await eventually(() => bot.webhook);

  telegram.fail("deleteWebhook", "hang", { botId: bot.id });
  const cut = remove(ada).then(
    () => "answered",
    () => "cut off",
  );
  await eventually(() => telegram.calls.some(({ botId, method }) => botId === bot.id && method === "deleteWebhook"));
  await berth.kill();
  expect(await cut).toBe("cut off");
  await berth.restart({ keepPorts: true });
  expect((await ada.get("/api/settings")).body).toMatchObject({ id });
  expect((await remove(ada)).status).toBe(200);
  expect(await berth.stop()).toBe(0);
  expect(tablesWith(berth, id, agent.id)).toEqual(["audit_log", "events"]);

  await berth.restart();
  const eve = await userWithBot(berth);
  await eventually(() => eve.bot.webhook);
  expect((await remove(eve.ada)).status).toBe(200);
  expect(eve.bot.webhook).toBeUndefined();
});
