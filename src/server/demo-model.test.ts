// Walks the examples that the demo model, the README and the public page propose, on every way to talk to an agent.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createVisitor } from "../../plugins/public-page/support.test.ts";
import { subscribe } from "../../tests/support/account-setup.ts";
import { type Client, createClient } from "../../tests/support/client.ts";
import { eventually } from "../../tests/support/eventually.ts";
import { openServer, type TestServer } from "../../tests/support/server.ts";
import { type FakeBot, startTelegram, type Telegram } from "../../tests/support/telegram.ts";

const OWNER_CHAT = 42;
/** The names of settings, and of what only an owner can do. */
const INTERNAL_NAME = /[A-Z]_[A-Z]|set-credential/;

let telegram: Telegram;
let server: TestServer;
let ada: Client;

beforeAll(async () => {
  telegram = await startTelegram();
  server = await openServer({ env: { CHANNEL_A_API_ROOT: telegram.url } });
  await server.kernel.jobs.start();
  await server.app.start();
  ada = createClient(server.web);
  await ada.join();
  await subscribe(server, ada.account.email, "enterprise");
});
afterAll(async () => {
  await server?.kernel.jobs.stop();
  await server?.[Symbol.asyncDispose]();
  await telegram?.stop();
});

async function provision(): Promise<{ id: string; subdomain: string }> {
  const { body } = await ada.post<{ agent: { id: string } }>("/api/agents/provision", { name: "Harbour" });
  const { id } = body.agent;
  const detail = await ada.get<{ agent: { subdomain: string } }>(`/api/agents/${id}`);
  return { id, subdomain: detail.body.agent.subdomain };
}

async function overRest() {
  const { id } = await provision();
  const say = async (message: string) =>
    (await ada.post<{ reply: string }>("/api/agent", { agentId: id, message })).body.reply;
  const hears = async (text: string) => {
    const { body } = await ada.get<{ messages: { content: string }[] }>(`/api/agents/${id}/messages?include=all`);
    return body.messages.some(({ content }) => content.includes(text));
  };
  return { say, hears };
}

async function overPublicPage() {
  const agent = await provision();
  await ada.put(`/api/agents/${agent.id}/public`, { enabled: true });
  const visitor = createVisitor(server.web);
  return { say: async (message: string): Promise<string> => (await visitor.sendMessage(agent, message)).body.reply };
}

async function overTelegram() {
  const { id } = await provision();
  const token = `300001:${"demo-model-test-token-of-a-bot".padEnd(35, "x")}`;
  const bot: FakeBot = telegram.addBot(token);
  await ada.put(`/api/agents/${id}/channels/channel_a`, { token, ownerId: String(OWNER_CHAT) });
  const sent = () => bot.sent(OWNER_CHAT).map(({ text }) => text);
  const say = async (message: string): Promise<string> => {
    const before = sent().length;
    bot.userSays(OWNER_CHAT, message);
    await eventually(() => sent().length > before, { timeoutMs: 15_000 });
    return sent().slice(before).join("\n");
  };
  return { say, hears: async (text: string) => sent().some((one) => one.includes(text)) };
}

describe.each([
  ["REST", overRest],
  ["Telegram", overTelegram],
])("over %s the demo model", (_, open) => {
  test("answers each of its examples, and reminds in time", async () => {
    const { say, hears } = await open();
    const first = await say("Hello! What time is it?");
    expect(first).toMatch(/^It is \w+, \d/);
    expect(first).toContain("This is the demo model.");
    expect(first).not.toMatch(INTERNAL_NAME);
    expect(await say("what do you remember about me?")).toBe("I don't remember anything yet.");
    expect(await say("Remember that I love lighthouses.")).toBe("Done, I'll remember that.");
    expect(await say("remember that I like tea")).toBe("Done, I'll remember that.");
    expect(await say("what do you remember about me?")).toBe("I remember: I like tea; I love lighthouses.");
    expect(await say("What do you remember about lighthouses?")).toBe("I remember: I love lighthouses.");
    expect(await say("remind me in 1 minute to stretch")).toMatch(/^I'll remind you: stretch \(\w+, .*\)\.$/);
    expect(await say("what reminders do I have?")).toContain("stretch");
    const help = await say("help");
    expect(help).toContain("remind me in 1 minute");
    expect(help).not.toMatch(INTERNAL_NAME);
    await say("remind me in 1 second to breathe");
    await eventually(() => hears("⏰ You asked me to remind you: breathe"), { timeoutMs: 15_000 });
  });
});

test("usage names the demo model, and no provider that was never asked", async () => {
  const { say } = await overRest();
  await say("Hello");
  const { body } = await ada.get<{ models: object[] }>("/api/usage");
  expect(body.models).toMatchObject([{ model: "demo", providerName: "Demo model" }]);
});

test("on a public page the demo model proposes only what reaches the visitor", async () => {
  const { say } = await overPublicPage();
  const first = await say("Hello! What time is it?");
  expect(first).toMatch(/^It is /);
  expect(first).not.toMatch(INTERNAL_NAME);
  const help = await say("help");
  expect(help).not.toMatch(INTERNAL_NAME);
  expect(help).toContain("what do you remember about me?");
  expect(help).not.toMatch(/remind me|remind_me/);
  expect(await say("remember that I like tea")).toBe("Done, I'll remember that.");
  expect(await say("what do you remember about me?")).toBe("I remember: I like tea.");
  expect(await say("remind me in 1 minute to stretch")).toBe("I can't remind you here.");
});
