// Tests the home of the console: the list of agents, the dialog that makes one, and what both do when the server refuses.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { type Berth, startBerth } from "../support/berth.ts";
import { type Client, createClient } from "../support/client.ts";
import { type AgentItem, member, provision } from "../support/members.ts";
import { type Console, expectAccessible, openConsole } from "./support/console.ts";
import { storeConversation } from "./support/conversations.ts";

let berth: Berth;
let ada: Client;
let harbour: AgentItem;
const HOSTILE = '<img src=x onerror="document.title=1">';
beforeAll(async () => {
  berth = await startBerth({ env: { RATE_LIMITS: "off" } });
  ada = await member(berth, "enterprise");
  harbour = await provision(ada, "Harbour");
  for (const name of ["Pier", "Quay", HOSTILE]) await provision(ada, name);
});
afterAll(() => berth?.[Symbol.asyncDispose]());

const links = (page: Page) => page.getByRole("list", { name: /^(Agents|Agenten)$/ }).getByRole("link");
const names = async (page: Page) => (await links(page).allTextContents()).sort();

async function openHome(path = "/"): Promise<Console> {
  const console = await openConsole(berth, ada);
  await console.open(path);
  await links(console.page).first().waitFor();
  return console;
}

describe("the list", () => {
  test("searches as one types, filters by state, and keeps both in the address", async () => {
    await using console = await openHome();
    const { page } = console;
    expect(await names(page)).toEqual([HOSTILE, "Harbour", "Pier", "Quay"].sort());
    await page.getByRole("searchbox").fill("PIE");
    await page.waitForURL(/query=PIE/);
    await page.getByText("1 agent shown").waitFor({ state: "attached" });
    expect(await names(page)).toEqual(["Pier"]);
    await page.reload();
    await links(page).first().waitFor();
    expect(await names(page)).toEqual(["Pier"]);
    await page.getByRole("radio", { name: /Stopped/ }).check({ force: true });
    await page.getByText("No agent matches").waitFor();
    await page.getByRole("button", { name: "Show all agents" }).click();
    await page.getByText("4 agents shown").waitFor({ state: "attached" });
    expect(console.complaints()).toEqual([]);
  });

  test("shows what happens elsewhere without a reload: state, names, new agents", async () => {
    await using console = await openConsole(berth, ada);
    const { page } = console;
    const connected = page.waitForResponse(/api\/events/);
    await console.open("/");
    await connected;
    await ada.post(`/api/agents/${harbour.id}/stop`, {});
    await page.getByText("Stopped", { exact: true }).nth(1).waitFor();
    await ada.patch(`/api/agents/${harbour.id}`, { name: "Old harbour" });
    await page.getByRole("link", { name: "Old harbour" }).waitFor();
    await ada.patch(`/api/agents/${harbour.id}`, { name: "Harbour" });
    await ada.post(`/api/agents/${harbour.id}/start`, {});
    await page.getByRole("link", { name: "Harbour", exact: true }).waitFor();
  });

  test("stops an agent from its menu by keyboard, with undo", async () => {
    await using console = await openHome();
    const { page } = console;
    await page.getByRole("button", { name: "Actions for Pier" }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("menuitem", { name: "Stop" }).waitFor();
    await page.getByRole("menuitem", { name: "Stop" }).press("Enter");
    await page.getByText("Pier is stopped").waitFor();
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByText("Pier runs").waitFor();
    expect(console.complaints()).toEqual([]);
  });

  test("stops and starts several at once", async () => {
    await using console = await openHome();
    const { page } = console;
    await page.getByRole("button", { name: "Select several" }).click();
    await page.getByRole("checkbox", { name: "Select Pier" }).check();
    await page.getByRole("checkbox", { name: "Select Quay" }).check();
    const bar = page.getByRole("region", { name: "Selected agents" });
    await bar.getByRole("button", { name: "Stop" }).click();
    await page.getByText("2 agents are stopped").waitFor();
    await page.getByRole("button", { name: "Select several" }).click();
    await page.getByRole("button", { name: "Select all 4" }).click();
    await page.getByText("4 agents selected").waitFor();
    await bar.getByRole("button", { name: "Start", exact: true }).click();
    await page.getByText("4 agents run").waitFor();
    expect(console.complaints()).toEqual([]);
  });

  test("restarts several at once, and deletes them once their number is typed", async () => {
    const eve = await member(berth, "enterprise");
    for (const name of ["Skiff", "Barge", "Dinghy"]) await provision(eve, name);
    await using console = await openConsole(berth, eve);
    const { page } = console;
    await console.open("/");
    const select = async (...names: string[]) => {
      await page.getByRole("button", { name: "Select several" }).click();
      for (const name of names) await page.getByRole("checkbox", { name: `Select ${name}` }).check();
    };
    const bar = page.getByRole("region", { name: "Selected agents" });
    await select("Skiff", "Barge");
    await bar.getByRole("button", { name: "Restart" }).click();
    await page.getByText("2 agents are restarted").waitFor();
    await select("Skiff", "Barge");
    await bar.getByRole("button", { name: "Delete" }).click();
    const dialog = page.getByRole("dialog", { name: "Delete 2 agents?" });
    const confirm = dialog.getByRole("button", { name: "Delete for good" });
    await dialog.getByLabel(/^Type the number/).fill("3");
    expect(await confirm.isDisabled()).toBe(true);
    expect(await console.violations()).toEqual([]);
    await dialog.getByLabel(/^Type the number/).fill("2");
    await confirm.click();
    await page.getByText("2 agents are deleted").waitFor();
    const { body } = await eve.get<{ agents: { name: string }[] }>("/api/agents");
    expect(body.agents.map(({ name }) => name)).toEqual(["Dinghy"]);
    expect(console.complaints()).toEqual([]);
  });

  test("remembers the order of the list", async () => {
    await using console = await openHome();
    const { page } = console;
    await page.getByLabel("Order").selectOption("name");
    await page.getByRole("link", { name: "Usage", exact: true }).first().click();
    await page.getByRole("heading", { name: "Usage", level: 1 }).waitFor();
    await console.open("/");
    expect(await page.getByLabel("Order").inputValue()).toBe("name");
    await page.getByLabel("Order").selectOption("newest");
    await page.reload();
    expect(await page.getByLabel("Order").inputValue()).toBe("newest");
  });

  test("remembers cards or rows", async () => {
    await using console = await openHome();
    const { page } = console;
    await page.getByRole("button", { name: "Show as a list" }).click();
    await page.reload();
    await page.getByRole("button", { name: "Show as cards" }).waitFor();
  });

  test("of 10,000 agents holds only those in view, and jumps to any of them", async () => {
    await using console = await openConsole(berth, ada);
    const { page } = console;
    const total = 10_000;
    const asked: number[] = [];
    const { body } = await ada.get<{ agents: object[]; counts: object }>("/api/agents/overview?limit=1");
    await page.route("**/api/agents/overview*", (route) => {
      const offset = Number(new URL(route.request().url()).searchParams.get("offset"));
      asked.push(offset);
      const agents = Array.from({ length: 100 }, (_, n) => ({
        ...body.agents[0],
        id: `id-${offset + n}`,
        name: `Agent ${offset + n + 1}`,
        status: n % 3 === 0 ? "error" : "active",
        statusReason: n % 3 === 0 ? "The model is gone." : null,
      }));
      return route.fulfill({ json: { ...body, agents, total, counts: { ...body.counts, total, attention: 3_334 } } });
    });
    await console.open("/");
    await page.getByRole("link", { name: "Agent 1", exact: true }).waitFor();
    await page.getByText("The model is gone.").filter({ visible: true }).first().waitFor();
    await page.keyboard.press("End");
    await page.getByRole("link", { name: "Agent 10000", exact: true }).waitFor();
    expect(await page.getByRole("listitem").count()).toBeLessThan(100);
    expect(new Set(asked).size).toBeLessThan(50);
    await page.keyboard.press("Home");
    await page.getByRole("link", { name: "Agent 1", exact: true }).waitFor();
    expect(console.complaints()).toEqual([]);
  });

  test.each([
    [503, { error: "The database is busy.", code: "STORAGE_UNAVAILABLE" }, "The database is busy."],
    [429, { error: "Too many requests.", code: "RATE_LIMITED" }, "Too many requests."],
  ])("says what is wrong on %d, and tries again", async (status, body, words) => {
    await using console = await openConsole(berth, ada);
    const { page } = console;
    let isBroken = true;
    await page.route("**/api/agents/overview*", (route) =>
      isBroken ? route.fulfill({ status, json: body }) : route.continue(),
    );
    await console.open("/");
    await page.getByRole("alert").getByText(words).waitFor();
    isBroken = false;
    await page.getByRole("button", { name: "Try again" }).click();
    await links(page).first().waitFor();
  });
});

test("the dialog that makes an agent leads an admin to the page of keys, and tells others whom to ask", async () => {
  const root = createClient(berth);
  await root.signUp();
  await berth.command("user", "admin", root.account.email);
  await root.signIn();
  await using console = await openConsole(berth, root);
  const { page } = console;
  await console.open("/?new=1");
  await page.getByRole("dialog").getByRole("link", { name: "Add a key" }).click();
  await page.getByRole("heading", { level: 1, name: "Models" }).waitFor();
  expect(await page.getByRole("dialog").count()).toBe(0);
  await page.goBack();
  await page.getByRole("heading", { level: 1, name: "Agents" }).waitFor();
  expect(await page.getByRole("dialog").count()).toBe(0);
  expect(console.complaints()).toEqual([]);

  await using other = await openConsole(berth, ada);
  await other.open("/?new=1");
  await other.page.getByRole("dialog").getByText("An admin can add a key.").waitFor();
  expect(await other.page.getByRole("dialog").getByRole("link").count()).toBe(0);
});

describe("a new agent", () => {
  test("is made from a template, and its chat opens", async () => {
    await using console = await openHome();
    const { page } = console;
    await page.getByRole("button", { name: "New agent" }).click();
    // The first field has the focus, so that arrow keys choose.
    await page
      .getByRole("radio", { name: /Assistant/ })
      .and(page.locator(":focus"))
      .waitFor({ state: "attached" });
    await page.getByRole("radio", { name: /Researcher/ }).check({ force: true });
    expect(await page.getByLabel("Name", { exact: true }).inputValue()).toBe("Researcher");
    await page.getByLabel("Name", { exact: true }).fill("Reader");
    await page.getByLabel("What it should do").fill("Read what I send you.");
    await page.getByRole("button", { name: "Make the agent" }).click();
    await page.waitForURL(/\/agents\/[^/]+\/chat/);
    const id = /agents\/([^/]+)/.exec(page.url())?.[1] ?? "";
    const { body } = await ada.get<{ config: Record<string, unknown> }>(`/api/agents/${id}/config`);
    expect(body.config).toMatchObject({ instructions: "Read what I send you.", temperature: 0.3 });
    expect(console.complaints()).toEqual([]);
  });

  test("begins from the palette on any page, and with a link", async () => {
    await using console = await openHome();
    const { page } = console;
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "Page, agent or action" }).fill("new agent");
    await page
      .getByRole("option", { name: /New agent/ })
      .first()
      .waitFor();
    await page.keyboard.press("Enter");
    await page.getByRole("dialog", { name: "New agent" }).waitFor();
    await console.open("/agents?new=support-desk");
    await page.getByRole("dialog", { name: "New agent" }).waitFor();
    expect(await page.getByRole("radio", { name: /Support desk/ }).isChecked()).toBe(true);
  });

  test("keeps what was typed when the connection is lost, and does not make two agents", async () => {
    await using console = await openHome();
    const { page, context } = console;
    await page.getByRole("button", { name: "New agent" }).click();
    await page.getByLabel("Name", { exact: true }).fill("Once");
    await context.setOffline(true);
    await page.getByRole("button", { name: "Make the agent" }).click();
    await page.getByRole("alert").getByText("Berth can't be reached.").waitFor();
    await context.setOffline(false);
    await page.getByRole("button", { name: "Make the agent" }).click();
    await page.waitForURL(/\/chat/);
    const { body } = await ada.get<{ total: number }>("/api/agents/overview?query=once");
    expect(body.total).toBe(1);
  });

  test("says which field is wrong, and what to do when the plan is full or there is none", async () => {
    const bob = createClient(berth);
    await bob.join();
    await using console = await openConsole(berth, bob);
    const { page } = console;
    await console.open("/");
    await page.getByText("Your plan has no room for an agent yet.").waitFor();
    // The dialog has an address, which leads there without the page's templates.
    await console.open("/agents?new=assistant");
    await page.getByRole("button", { name: "Make the agent" }).click();
    await page.getByRole("alert").getByText("Your account has no plan yet").waitFor();
    await bob.grant("starter");
    await page.getByRole("button", { name: "Make the agent" }).click();
    await page.waitForURL(/\/chat/);
    await console.open("/");
    await page.getByRole("button", { name: "New agent" }).click();
    await page.getByRole("button", { name: "Make the agent" }).click();
    await page.getByRole("alert").getByText("Your plan has room for 1 agent").waitFor();
    expect(console.complaints()).toEqual([]);
  });
});

test("somebody without an agent learns what one is, and begins with a template", async () => {
  const eve = await member(berth);
  await expectAccessible(berth, eve, "/", {
    name: "agents-empty",
    prepare: (page) =>
      page
        .getByRole("button", { name: /Assistant|Assistent/ })
        .first()
        .waitFor(),
  });
});

test("an agent's frame renames, stops and starts it, and another's agent is not found", async () => {
  await using console = await openConsole(berth, ada);
  const { page } = console;
  await console.open(`/agents/${harbour.id}`);
  await page.getByRole("button", { name: "Rename" }).click();
  await page.getByRole("textbox", { name: "Name" }).fill("Haven");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Haven", level: 1 }).waitFor();
  await page.getByRole("button", { name: "Stop" }).click();
  await page.getByText("Haven is stopped").waitFor();
  await page.getByRole("button", { name: "Start", exact: true }).click();
  await page.getByText("Haven runs").waitFor();
  await ada.patch(`/api/agents/${harbour.id}`, { name: "Harbour" });
  await page.getByRole("heading", { name: "Harbour", level: 1 }).waitFor();
  expect(console.complaints()).toEqual([]);
  const foreign = await provision(await member(berth));
  await console.open(`/agents/${foreign.id}`);
  await page.getByRole("heading", { name: "This does not exist" }).waitFor();
});

test("a stop that does not reach Berth is taken back, and said", async () => {
  await using console = await openConsole(berth, ada);
  const { page } = console;
  await console.open(`/agents/${harbour.id}`);
  const state = page.getByRole("status").filter({ hasText: /^(?:Running|Stopped)$/ });
  await state.getByText("Running").waitFor();
  await console.context.setOffline(true);
  await page.getByRole("button", { name: "Stop" }).click();
  await page.getByText("Berth can't be reached.").first().waitFor();
  await state.getByText("Running").waitFor();
  await page.getByRole("button", { name: "Stop" }).waitFor();
});

test("a phone's list of all pages leads to each of an agent's", async () => {
  await using console = await openConsole(berth, ada, { theme: "light", width: 390 });
  const { page } = console;
  await console.open(`/agents/${harbour.id}`);
  await page.getByRole("combobox", { name: "All pages of this agent" }).selectOption({ label: "Backups" });
  await page.getByRole("heading", { name: "Backups", exact: true }).waitFor();
  expect(new URL(page.url()).pathname).toBe(`/agents/${harbour.id}/backups`);
  await page.goBack();
  await page.getByRole("heading", { name: "The last two weeks" }).waitFor();
});

test("a phone shows names, counts and conversations whole, also in German", async () => {
  const words = "a rather long first message that does not end before the edge of any phone ".repeat(3);
  await storeConversation(berth, { agentId: harbour.id, platform: "channel_a", name: "Bob", messages: [words] });
  await using console = await openConsole(berth, ada, { theme: "light", width: 390, language: "de" });
  const { page } = console;
  await console.open("/");
  await links(page).first().waitFor();
  const tiles = page.getByRole("group", { name: "Anzeigen" }).locator("label");
  expect(await tiles.count()).toBe(5);
  expect(await tiles.evaluateAll((all) => all.filter((one) => one.scrollWidth > one.clientWidth).length)).toBe(0);
  expect(await tiles.evaluateAll((all) => new Set(all.map((one) => one.clientHeight)).size)).toBe(1);
  await console.open(`/agents/${harbour.id}`);
  await page.getByRole("link", { name: /a rather long first message/ }).waitFor();
  expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(390);
});

test("the pages are accessible in both themes, sizes and languages, with menu and dialog open", async () => {
  const ready = async (page: Page) => void (await links(page).first().waitFor());
  await expectAccessible(berth, ada, "/", { name: "agents", prepare: ready });
  await expectAccessible(berth, ada, "/", {
    name: "agents-list",
    async prepare(page) {
      await ready(page);
      await page.getByRole("button", { name: /Show as a list|Als Liste zeigen/ }).click();
      await page.getByRole("button", { name: /Actions for Pier|Aktionen für Pier/ }).click();
      await page.getByRole("menu").waitFor();
    },
  });
  await expectAccessible(berth, ada, "/agents?new=1", {
    name: "new-agent",
    async prepare(page) {
      await page
        .getByRole("radio", { name: /Researcher|Rechercheur/ })
        .first()
        .waitFor({ state: "attached" });
      await page
        .getByRole("radio", { name: /Standard/ })
        .first()
        .waitFor();
    },
  });
  await expectAccessible(berth, ada, `/agents/${harbour.id}`, {
    name: "agent-overview",
    prepare: (page) =>
      page
        .getByRole("heading", { name: /Next steps|Nächste Schritte/ })
        .first()
        .waitFor(),
  });
});
