// The first run in Chromium: from the link of the first admin to an agent that answers in Telegram, with its errors.

import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { type Berth, startBerth } from "../support/berth.ts";
import { type Client, createClient } from "../support/client.ts";
import { member } from "../support/members.ts";
import { startOllama } from "../support/ollama.ts";
import { type FakeBot, startTelegram, type Telegram } from "../support/telegram.ts";
import { startUpstream, type Upstream } from "../support/upstream.ts";
import { expectAccessible, openConsole } from "./support/console.ts";

const KEY = "sk-proj-abcdefghijklmnop-7Q2z";
const TOKEN = "300001:AAFakeTokenOfTheWelcomeTestAbcdefgh";

let upstream: Upstream;
let telegram: Telegram;
let bot: FakeBot;
let berth: Berth;

beforeAll(async () => {
  upstream = await startUpstream({ key: KEY });
  telegram = await startTelegram();
  bot = telegram.addBot(TOKEN, { username: "harbour_bot" });
  berth = await startBerth({
    env: { PROVIDER_5_BASE_URL: upstream.url, CHANNEL_A_API_ROOT: telegram.url, RATE_LIMITS: "off" },
  });
});
afterAll(async () => {
  await berth?.[Symbol.asyncDispose]();
  await telegram?.[Symbol.asyncDispose]();
  await upstream?.[Symbol.asyncDispose]();
});
beforeEach(() => upstream.reset());

/** An admin of their own, for states that others must not change. */
async function admin(): Promise<Client> {
  const client = createClient(berth);
  await client.signUp();
  await berth.command("user", "admin", client.account.email);
  await client.signIn();
  return client;
}

test("a newcomer comes from the link to an agent in Telegram", async () => {
  await using console = await openConsole(berth);
  const { page } = console;
  let clicks = 0;
  const click = async (name: string | RegExp) => {
    clicks += 1;
    await page.getByRole("button", { name }).click();
  };
  const [link = ""] = /http\S+\/setup\?token=\S+/.exec(berth.output().stdout + berth.output().stderr) ?? [];
  const { pathname, search } = new URL(link);
  await page.goto(pathname + search);
  await page.getByLabel(/^Email/).fill("ada@example.com");
  await page.getByLabel(/^Name/).fill("Ada");
  await page.getByLabel(/^Password/).fill("correct horse battery");
  await click("Create the admin account");
  await page.getByRole("heading", { name: "Choose what answers", level: 1 }).waitFor();
  expect(new URL(page.url()).pathname).toBe("/welcome");

  // A key of a provider is recognized, tried and kept.
  upstream.script("Ahoy! I am ready.");
  await page.getByLabel(/^Key of/).fill(KEY);
  expect(await page.getByRole("radio", { name: "OpenAI" }).isChecked()).toBe(true);
  await click("Check and keep this key");
  await page.getByText("Ahoy! I am ready.").waitFor();
  await page.getByRole("button", { name: "Go on" }).waitFor();
  expect(await page.getByLabel(/^Key of/).inputValue()).toBe("");
  await click("Go on");

  await page.getByRole("heading", { name: "Make your first agent" }).waitFor();
  await page.getByLabel("Its name").fill("Harbour");
  await click("Make the agent");

  await page.getByRole("heading", { name: "Talk to Harbour" }).waitFor();
  upstream.script("I **help** you. ![x](https://evil.example/x.png) <script>alert(1)</script>");
  await click("Hello! What can you do for me?");
  await page.getByRole("log").getByText("help").waitFor();
  await page.getByRole("log").getByText("<script>alert(1)</script>").waitFor();
  await click("Go on");

  await page.getByRole("heading", { name: "Let Harbour answer in Telegram" }).waitFor();
  // The token is judged while it is typed, as on the agent's page of channels.
  await page.getByLabel("Token of the bot").fill("harbour_bot");
  await page.getByText(/does not begin like a token of Telegram/).waitFor();
  await page.getByLabel("Token of the bot").fill(TOKEN);
  await page.getByText("Telegram knows it").waitFor();
  await click(/^Connect .*/);
  await page.getByRole("heading", { name: "@harbour_bot" }).waitFor();
  await page.getByText("This page notices when you are there").waitFor();
  const open = page.getByRole("link", { name: "Open the chat with @harbour_bot" }).and(page.locator("[href*=start]"));
  const code = new URL((await open.getAttribute("href")) ?? "").searchParams.get("start") ?? "";
  // What Telegram sends when the person presses Start there; somebody else who writes is not taken for them.
  bot.userSays(43, "Hello bot");
  await page.getByText("wrote to the bot. Is that you?").waitFor();
  bot.userSays(42, `/start ${code}`);
  await page.getByText("Harbour knows you, and answers you in Telegram.").waitFor();
  await click("Go on");

  await page.getByRole("heading", { name: "Moored. You are all set" }).waitFor();
  await console.shoot("welcome-done");
  // Beside what is typed: the account, key, agent, talk, Telegram, and on.
  expect(clicks).toBeLessThanOrEqual(8);
  upstream.script("Ahoy in Telegram");
  bot.userSays(42, "And now?");
  await telegram.waitFor(() => bot.sent(42).some(({ text }) => text?.includes("Ahoy in Telegram")));
  expect(console.complaints()).toEqual([]);
});

test("a step that is left out can be taken up again, by back, reload and link", async () => {
  const client = await admin();
  // The instance has a key by now, if the tests run in order; the step is there either way.
  await client.put("/api/setup/skipped", { steps: ["model"] });
  await using console = await openConsole(berth, client);
  const { page } = console;
  await console.open("/welcome");
  await page.getByRole("heading", { name: "Make your first agent" }).waitFor();
  await page.getByRole("button", { name: "Skip this step" }).click();
  await page.getByRole("heading", { name: "First make an agent" }).waitFor();
  await page.goBack();
  await page.getByRole("heading", { name: "Make your first agent" }).waitFor();
  await page.reload();
  await page.getByRole("heading", { name: "Make your first agent" }).waitFor();
  await page.getByRole("link", { name: /The first talk/ }).click();
  await page.getByRole("button", { name: "Skip this step" }).click();
  await page.getByRole("button", { name: "Skip this step" }).click();
  await page.getByRole("heading", { name: "That's it for now" }).waitFor();
  await page.getByRole("link", { name: "Do it now" }).first().click();
  await page.getByRole("heading", { name: "Make your first agent" }).waitFor();
  await page.getByRole("link", { name: "Leave the tour" }).click();
  await page.waitForURL((url) => url.pathname === "/");
  expect(console.complaints()).toEqual([]);
});

test("a found Ollama is offered, once it has a model", async () => {
  const models: string[] = [];
  await using ollama = await startOllama({ models });
  await using own = await startBerth({ env: { OLLAMA_URL: ollama.url, RATE_LIMITS: "off" } });
  const client = createClient(own);
  await client.signUp();
  await own.command("user", "admin", client.account.email);
  await client.signIn();
  await using console = await openConsole(own, client);
  const { page } = console;
  await console.open("/welcome");
  await page.getByText("but it has no model yet").waitFor();
  await page.getByLabel(/^Key of/).waitFor();
  models.push("llama3.2:3b");
  await page.getByRole("button", { name: "Look again" }).click();
  await page.getByRole("heading", { name: "Ollama is ready" }).waitFor();
  ollama.upstream.script("Ahoy from your own machine.");
  await page.getByRole("button", { name: "See it answer" }).click();
  await page.getByText("Ahoy from your own machine.").waitFor();
  await page.getByText(/llama3\.2:3b, in .*, for nothing/).waitFor();
  // A key is still one step away.
  await page.getByRole("heading", { name: "Or a key of a provider" }).waitFor();
  await page.getByRole("button", { name: "Go on" }).click();
  // Whoever comes back later meets this step first, and is told what answers.
  await page.getByText("llama3.2:3b answers, from the Ollama on this machine").waitFor();
  await page.getByRole("button", { name: "Make the agent" }).click();
  await page.getByRole("button", { name: "Hello! What can you do for me?" }).click();
  await page.getByRole("log").getByText("Ahoy from your own machine.").waitFor();
  expect(ollama.upstream.chats.at(-1)?.body.model).toBe("llama3.2:3b");
  // When it is gone, the page does not say that it is ready.
  await ollama.stop();
  await console.open("/welcome?step=model");
  await page.getByText("The demo model is built in").waitFor();
  expect(await page.getByText("Ollama is ready").count()).toBe(0);
  expect(console.complaints()).toEqual([]);
});

test("errors say what to do", async () => {
  const client = await admin();
  await using console = await openConsole(berth, client);
  const { page } = console;
  await page.route("**/api/admin/model-providers", async (route) => {
    const answer = await route.fetch();
    const list = (await answer.json()) as { providers: object[] };
    const providers = list.providers.map((one) => ({ ...one, inUse: false, hasKey: false, source: "none" }));
    await route.fulfill({ json: { ...list, providers, serving: "demo" } });
  });
  await console.open("/welcome?step=model");
  await page.getByRole("button", { name: "Check and keep this key" }).click();
  await page.getByText("Fill this in.").waitFor();
  await page.getByLabel(/^Key of/).fill("sk-proj-this-one-is-wrong-0000");
  await page.getByRole("button", { name: "Check and keep this key" }).click();
  await page.getByText(/OpenAI does not accept this key/).waitFor();

  // 429, 503 and no connection at all.
  const refuse = (status: number, code: string) =>
    page.route("**/model-providers/provider_5/test", (route) =>
      route.fulfill({ status, json: { error: "Please wait.", code }, headers: { "retry-after": "7" } }),
    );
  await refuse(429, "RATE_LIMITED");
  await page.getByRole("button", { name: "Check and keep this key" }).click();
  await page.getByText("Please wait.").waitFor();
  await page.unroute("**/model-providers/provider_5/test");
  await page.context().setOffline(true);
  await page.getByRole("button", { name: "Check and keep this key" }).click();
  await page.getByText(/Berth can't be reached/).waitFor();
  await page.context().setOffline(false);

  await page.route("**/api/agents/provision", (route) =>
    route.fulfill({ status: 429, json: { error: "Your plan has room for 1 agent.", code: "AGENT_LIMIT_REACHED" } }),
  );
  await console.open("/welcome?step=agent");
  await page.getByRole("button", { name: "Make the agent" }).click();
  await page.getByText("Your plan has room for 1 agent.").waitFor();
});

test("a talk that fails says so and can be tried again", async () => {
  const client = await admin();
  await client.post("/api/agents/provision", { name: "Shaky", template: "assistant" });
  await using console = await openConsole(berth, client);
  const { page } = console;
  await console.open("/welcome?step=talk");
  await page.route("**/api/agent", (route) =>
    route.fulfill({ status: 503, json: { error: "Berth is restarting.", code: "SHUTTING_DOWN" } }),
  );
  await page.getByLabel("Your message").fill("Hello");
  await page.keyboard.press("Enter");
  await page.getByText("Berth is restarting.").waitFor();
  await page.unroute("**/api/agent");
  upstream.script("Here I am");
  await page.getByLabel("Your message").fill("Hello?");
  await page.keyboard.press("Enter");
  await page
    .getByRole("log")
    .getByText(/Here I am|demo/i)
    .first()
    .waitFor();
  await page.getByRole("button", { name: "Go on" }).waitFor();
});

test("people without a plan are told whom to ask, and see no step of admins", async () => {
  const client = createClient(berth);
  await client.join();
  await using console = await openConsole(berth, client);
  const { page } = console;
  await console.open("/welcome");
  await page.getByText(/Your plan has no room for an agent yet/).waitFor();
  expect(await page.getByRole("link", { name: /A model/ }).count()).toBe(0);
  await page.getByRole("link", { name: "See what the plans include" }).click();
  await page.getByRole("heading", { name: "Usage", level: 1 }).waitFor();
  // The home neither offers templates that would be refused, nor a tour that would end at its first step.
  await console.open("/");
  await page.getByText(`they find you as ${client.account.email}`).waitFor();
  expect(await page.getByRole("button", { name: /Assistant/ }).count()).toBe(0);
  expect(await page.getByText("Go on with the tour").count()).toBe(0);
  // The page follows when the plan is given.
  await client.grant("starter");
  await page.getByRole("button", { name: /Assistant/ }).waitFor();
  await page.getByRole("link", { name: "Go on with the tour" }).waitFor();
  await page.getByText("Starter", { exact: true }).waitFor();
  expect(console.complaints()).toEqual([]);
});

test("every step is accessible", async () => {
  const fresh = await admin();
  await expectAccessible(berth, fresh, "/welcome?step=agent", {
    name: "welcome-agent",
    prepare: async (page) => void (await page.getByRole("radio").first().waitFor()),
  });
  await fresh.put("/api/admin/model-providers/provider_5", { apiKey: KEY });
  upstream.script("Ahoy! I am ready when you are.");
  await expectAccessible(berth, fresh, "/welcome?step=model", {
    name: "welcome-model-ready",
    async prepare(page, { language }) {
      await page.getByRole("button", { name: language === "de" ? "Antworten lassen" : "See it answer" }).click();
      await page.getByText("Ahoy! I am ready").waitFor();
    },
  });
  await expectAccessible(berth, fresh, "/welcome?step=done", { name: "welcome-done-early" });
  const client = await member(berth, "enterprise");
  await client.post("/api/agents/provision", { name: "Harbour", template: "assistant" });
  upstream.script("Hello! I can **remember** things, set reminders and read web pages. What shall we begin with?");
  await expectAccessible(berth, client, "/welcome?step=talk", {
    name: "welcome-talk",
    async prepare(page, { language }) {
      await page.getByRole("log").getByRole("button").first().click();
      await page.getByRole("button", { name: language === "de" ? "Weiter" : "Go on" }).waitFor();
    },
  });
  await expectAccessible(berth, client, "/welcome?step=channel", {
    name: "welcome-channel",
    prepare: async (page) => void (await page.getByLabel(/^(?:Token of the bot|Token des Bots)/).waitFor()),
  });
});

test("the step of the model is accessible, with the demo and with an answer", async () => {
  await using own = await startBerth({ env: { PROVIDER_5_BASE_URL: upstream.url, RATE_LIMITS: "off" } });
  const client = createClient(own);
  await client.signUp({ name: "Ada" });
  await own.command("user", "admin", client.account.email);
  await client.signIn();
  await expectAccessible(own, client, "/welcome", {
    name: "welcome-model",
    prepare: async (page) => void (await page.locator("input[name=provider-key]").waitFor()),
  });
  upstream.script("Ahoy! I am ready when you are.");
  await expectAccessible(own, client, "/welcome?step=model", {
    name: "welcome-model-answer",
    async prepare(page, { language }) {
      await page.locator("input[name=provider-key]").fill(KEY);
      await page.locator("button[type=submit]").click();
      await page.getByText("Ahoy! I am ready").waitFor();
      await page.getByRole("button", { name: language === "de" ? "Weiter" : "Go on" }).waitFor();
      await client.delete("/api/admin/model-providers/provider_5");
    },
  });
});

test("the step of the model is accessible, with an Ollama that has a model, and one that has none", async () => {
  for (const [name, models] of [["ollama", ["llama3.2:3b"]] as const, ["ollama-empty", []] as const]) {
    await using ollama = await startOllama({ models });
    await using own = await startBerth({ env: { OLLAMA_URL: ollama.url, RATE_LIMITS: "off" } });
    const client = createClient(own);
    await client.signUp({ name: "Ada" });
    await own.command("user", "admin", client.account.email);
    await client.signIn();
    await expectAccessible(own, client, "/welcome?step=model", {
      name: `welcome-model-${name}`,
      prepare: async (page) =>
        void (await page
          .getByText(/Ollama/)
          .first()
          .waitFor()),
    });
  }
});
