// The admins' page of models in Chromium: keys, a server of one's own, default models, and what the environment sets.

import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { type Berth, startBerth } from "../support/berth.ts";
import { type Client, createClient } from "../support/client.ts";
import { member } from "../support/members.ts";
import { startUpstream, type Upstream } from "../support/upstream.ts";
import { expectAccessible, openConsole } from "./support/console.ts";

const KEY = "sk-proj-abcdefghijklmnop-7Q2z";
const PAGE = "/admin/models";

let upstream: Upstream;
let local: Upstream;
let berth: Berth;
let admin: Client;

beforeAll(async () => {
  upstream = await startUpstream({
    models: ["gpt-5-mini", "gpt-5.4-mini", { id: "x", name: "<img src=https://evil.example/x.png onerror=alert(1)>" }],
  });
  local = await startUpstream({ models: ["llama3.2"] });
  berth = await startBerth({
    env: { PROVIDER_5_BASE_URL: upstream.url, PROVIDER_2_API_KEY: "AIza-of-the-environment-9x8y", RATE_LIMITS: "off" },
  });
  admin = createClient(berth);
  await admin.signUp();
  await berth.command("user", "admin", admin.account.email);
  await admin.signIn();
});
afterAll(async () => {
  await berth?.[Symbol.asyncDispose]();
  await upstream?.[Symbol.asyncDispose]();
  await local?.[Symbol.asyncDispose]();
});
beforeEach(() => upstream.reset());

const stored = async () =>
  (await admin.get<{ providers: { id: string; source: string }[] }>("/api/admin/model-providers")).body.providers
    .filter(({ source }) => source === "stored")
    .map(({ id }) => id);

test("a key is added, tried, replaced, removed, and taken back by undo", async () => {
  await using console = await openConsole(berth, admin);
  const { page } = console;
  await console.open(PAGE);
  const row = page.getByRole("listitem").filter({ has: page.getByRole("heading", { name: /OpenAI/ }) });
  await row.getByRole("button", { name: "Add a key" }).click();
  upstream.script("Ahoy!");
  await page.getByLabel("Key of OpenAI").fill(KEY);
  await page.getByRole("button", { name: "Check and keep this key" }).click();
  await page.getByRole("dialog").getByText("Ahoy!").waitFor();
  await page.keyboard.press("Escape");
  await row.getByText(/Key …7Q2z, stored/).waitFor();
  upstream.script("Still here");
  await row.getByRole("button", { name: "Try it" }).click();
  await row.getByText("Still here").waitFor();
  upstream.failNext(1, { status: 401, message: "Incorrect API key provided: sk-proj-abc***" });
  await row.getByRole("button", { name: "Try it" }).click();
  await row.getByText(/OpenAI does not accept this key/).waitFor();

  await row.getByRole("button", { name: "Remove" }).click();
  await row.getByText("No key").waitFor();
  await page.getByRole("button", { name: "Undo" }).click();
  await row.getByText(/Key …7Q2z, stored/).waitFor();
  expect(await stored()).toEqual(["provider_5"]);
  expect(await page.content()).not.toContain(KEY);
  expect(console.complaints()).toEqual([]);
});

test("leaving the page removes at once what is being removed", async () => {
  await admin.put("/api/admin/model-providers/provider_1", { apiKey: "sk-or-of-this-test-12345678" });
  await using console = await openConsole(berth, admin);
  const { page } = console;
  await console.open(PAGE);
  const row = page.getByRole("listitem").filter({ has: page.getByRole("heading", { name: /OpenRouter/ }) });
  await row.getByRole("button", { name: "Remove" }).click();
  const removed = page.waitForResponse((response) => response.request().method() === "DELETE");
  await page.getByRole("button", { name: "Close" }).click();
  expect((await removed).status()).toBe(200);
  await row.getByText("No key").waitFor();
  expect(await stored()).not.toContain("provider_1");
});

test("default models are searched, chosen and taken back", async () => {
  await admin.put("/api/admin/model-providers/provider_5", { apiKey: KEY });
  await using console = await openConsole(berth, admin);
  const { page } = console;
  await console.open(PAGE);
  await page.getByRole("button", { name: "Choose another" }).first().click();
  await page.getByRole("searchbox", { name: "Search models" }).fill("evil");
  await page.getByRole("button", { name: /<img src=/ }).waitFor();
  await page.getByRole("searchbox", { name: "Search models" }).fill("gpt-5-mini");
  await page.getByRole("button", { name: /gpt-5-mini, OpenAI/ }).click();
  await page.getByText("Agents use it from their next turn on").waitFor();
  await page.getByText("gpt-5-mini", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByText("gpt-5-mini", { exact: true }).waitFor({ state: "detached" });
  expect(console.complaints()).toEqual([]);
});

test("a server of one's own is checked and kept; an address that is not allowed is refused in words", async () => {
  await using console = await openConsole(berth, admin);
  const { page } = console;
  await console.open(PAGE);
  await page.getByRole("button", { name: "Own server" }).click();
  const address = page.getByLabel("Address", { exact: true });
  await address.fill("http://10.1.2.3/v1");
  await page.getByRole("button", { name: "Check and keep this address" }).click();
  await page.getByText(/This address is not allowed/).waitFor();
  await address.fill(local.url);
  local.script("Hello from here");
  await page.getByRole("button", { name: "Check and keep this address" }).click();
  await page.getByText("Hello from here").waitFor();
  await page.getByText(/llama3.2, in .*, for nothing/).waitFor();
  expect(await stored()).toContain("provider_3");
  await admin.delete("/api/admin/model-providers/provider_3");
  expect(console.complaints()).toEqual([]);
});

test("what the environment sets can't be changed here, and the page says so", async () => {
  await using console = await openConsole(berth, admin);
  await console.open(PAGE);
  const row = console.page.getByRole("listitem").filter({ has: console.page.getByRole("heading", { name: /Gemini/ }) });
  await row.getByText("Key …9x8y, from the environment (PROVIDER_2_API_KEY).").waitFor();
  expect(await row.getByRole("button", { name: /key|Remove/ }).count()).toBe(0);
});

test("other people don't see the page, and errors have a way on", async () => {
  const other = await member(berth);
  await using console = await openConsole(berth, other);
  await console.open(PAGE);
  await console.page.getByRole("heading", { name: "There is no such page" }).waitFor();
  expect(await console.page.getByRole("link", { name: "Models" }).count()).toBe(0);

  await using own = await openConsole(berth, admin);
  await own.page.route("**/api/admin/model-providers", (route) =>
    route.fulfill({ status: 403, json: { error: "Only admins can do this.", code: "ADMIN_REQUIRED" } }),
  );
  await own.open(PAGE);
  await own.page.getByText("Only admins can do this.").waitFor();
  await own.page.unroute("**/api/admin/model-providers");
  await own.page.getByRole("button", { name: "Try again" }).click();
  await own.page.getByRole("heading", { name: "Providers" }).waitFor();
});

test("the page is accessible, with its dialogs", async () => {
  await admin.put("/api/admin/model-providers/provider_5", { apiKey: KEY });
  await expectAccessible(berth, admin, PAGE, {
    name: "models",
    prepare: async (page) => void (await page.getByText("model_b", { exact: false }).first().waitFor()),
  });
  await expectAccessible(berth, admin, PAGE, {
    name: "models-key",
    async prepare(page, { language }) {
      await page
        .getByRole("button", { name: language === "de" ? "Schlüssel hinzufügen" : "Add a key" })
        .first()
        .click();
      await page.locator("input[name=provider-key]").waitFor();
    },
  });
  await expectAccessible(berth, admin, PAGE, {
    name: "models-choose",
    async prepare(page, { language }) {
      await page
        .getByRole("button", { name: language === "de" ? "Anderes wählen" : "Choose another" })
        .first()
        .click();
      await page.getByText("gpt-5-mini").first().waitFor();
    },
  });
});
