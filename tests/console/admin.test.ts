// The pages of admins in Chromium: what is wrong and what it costs, accounts, agents, providers, channels, jobs, backups.

import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import type { Page, Route } from "playwright-core";
import { startBerth } from "../support/berth.ts";
import { createClient } from "../support/client.ts";
import { eventually } from "../support/eventually.ts";
import { expectAccessible, openConsole } from "./support/console.ts";
import { type Fleet, figuresOfADay, HOSTILE, startFleet } from "./support/fleet.ts";

let fleet: Fleet;

beforeAll(async () => {
  fleet = await startFleet();
});
afterAll(() => fleet?.berth[Symbol.asyncDispose]());

const open = async (path: string) => {
  const opened = await openConsole(fleet.berth, fleet.root);
  await opened.open(path);
  return opened;
};
const showDay = (page: Page) =>
  page.route("**/api/admin/figures*", (route: Route) => route.fulfill({ json: figuresOfADay() }));
const audited = async () =>
  (await fleet.root.get<{ entries: { action: string }[] }>("/api/admin/audit")).body.entries.map(
    ({ action }) => action,
  );

describe("the overview", () => {
  test("says what is wrong first, and leads to it", async () => {
    await using console = await open("/admin");
    const { page } = console;
    const problems = page.getByRole("list", { name: "What is wrong" });
    await problems.getByText(/Background jobs that failed/).waitFor();
    await page.getByText("Agents that answer").waitFor();
    await problems.getByRole("listitem").filter({ hasText: "Background jobs" }).getByRole("link").click();
    await page.getByRole("heading", { name: "Jobs and queues", level: 1 }).waitFor();
    await page.goBack();
    await page.getByRole("heading", { name: "This server", level: 1 }).waitFor();
    await page.reload();
    await problems.waitFor();
    expect(console.complaints()).toEqual([]);
  });

  test("draws the last day", async () => {
    await using console = await openConsole(fleet.berth, fleet.root);
    await showDay(console.page);
    await console.open("/admin");
    await console.page.getByRole("img", { name: "Replies of agents" }).locator("canvas").waitFor();
    expect(await console.page.locator("canvas").count()).toBe(8);
    expect(console.complaints()).toEqual([]);
  });

  test("shows refusals, and keeps what it knows while the server can't be reached", async () => {
    await using console = await openConsole(fleet.berth, fleet.root);
    const { page } = console;
    let mode: "busy" | "works" | "gone" = "busy";
    await page.route("**/api/admin/overview", (route) => {
      if (mode === "gone") return route.abort();
      if (mode === "works") return route.continue();
      const json = { error: "Too many requests. Try again in 1 s.", code: "RATE_LIMITED" };
      return route.fulfill({ status: 429, json, headers: { "retry-after": "1" } });
    });
    await console.open("/admin");
    await page.getByText("Too many requests. Try again in 1 s.").waitFor();
    mode = "works";
    await page.getByRole("button", { name: "Try again", exact: true }).click();
    await page.getByText("Agents that answer").waitFor();
    mode = "gone";
    await page.getByText(/Berth can't be reached/).waitFor();
    await page.getByText("Agents that answer").waitFor();
  });
});

test("the notice of a sudden end is dismissed for good, and the next end is told again", async () => {
  await using berth = await startBerth();
  const root = createClient(berth);
  const { email } = await root.signUp();
  await berth.command("user", "admin", email);
  await root.signIn();
  /** A run is recorded a moment after the start; only then its end can be noticed. */
  const endSuddenly = async () => {
    const runs = async () => {
      using database = new Database(join(berth.dir, "data/berth.db"), { readonly: true });
      return database.query("SELECT 1 FROM instance_runs").all().length;
    };
    const before = await eventually(runs);
    await berth.kill();
    await berth.restart({ keepPorts: true });
    await eventually(async () => (await runs()) > before);
  };
  await endSuddenly();
  await using console = await openConsole(berth, root);
  const { page } = console;
  const notice = page.getByText(/Berth was stopped without warning/);
  await console.open("/admin");
  await notice.waitFor();
  await page.getByRole("button", { name: "Don't show this any more" }).click();
  await notice.waitFor({ state: "detached" });
  await page.reload();
  await page.getByText("Agents that answer").waitFor();
  expect(await notice.count()).toBe(0);
  await endSuddenly();
  await page.reload();
  await page.getByText(/Berth was stopped without warning 2 times/).waitFor();
  expect(console.complaints()).toEqual([]);
});

describe("people who are no admins", () => {
  test("are offered no page of the server, and see none", async () => {
    await using console = await openConsole(fleet.berth, fleet.ada);
    await console.open("/");
    expect(await console.page.getByText("This server").count()).toBe(0);
    await console.open("/admin");
    await console.page.getByRole("heading", { level: 1 }).waitFor();
    expect(await console.page.getByText("Agents that answer").count()).toBe(0);
  });
});

describe("accounts", () => {
  test("are found, opened, disabled and enabled again by undo", async () => {
    await using console = await open("/admin/users");
    const { page } = console;
    await page.getByRole("searchbox").fill(fleet.bob.account.email);
    await page.waitForURL(/query=/);
    await page.getByRole("link", { name: fleet.bob.account.email }).click();
    await page.getByRole("heading", { level: 1, name: HOSTILE }).waitFor();
    await page.getByRole("switch", { name: "May sign in" }).click();
    await page.getByText("The account is disabled, its agents stop.").waitFor();
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByRole("switch", { name: "May sign in", checked: true }).waitFor();
    await page.getByText("Enabled an account").first().waitFor();
    expect(await page.title()).not.toBe("owned");
    expect(console.complaints()).toEqual([]);
  });

  test("get a plan, credits, and a link for a new password that is shown once", async () => {
    await using console = await open(`/admin/users/${fleet.adaId}`);
    const { page } = console;
    await page.getByLabel("Plan", { exact: true }).selectOption("pro");
    await page.getByRole("button", { name: "Give the plan" }).click();
    await page.getByText("The plan is in force.").waitFor();
    await page.getByLabel("Credits", { exact: true }).fill("250");
    await page.getByRole("button", { name: "Set the credits" }).click();
    await page.getByText("The credits are changed.").waitFor();
    await page.getByRole("button", { name: "Show a link to pass on" }).click();
    await page.getByRole("dialog").getByText("/reset-password?token=").waitFor();
    await page.getByRole("dialog").getByRole("button", { name: "Done" }).click();
    await page.getByText("/reset-password?token=").waitFor({ state: "detached" });
    expect(await audited()).toContain("user.reset-password");
  });

  test("are frozen with a reason, which their owner reads, and go on", async () => {
    await using console = await open(`/admin/users/${fleet.adaId}`);
    const { page } = console;
    await page.getByRole("button", { name: "Freeze the account" }).click();
    const dialog = page.getByRole("dialog");
    expect(await dialog.getByRole("button", { name: "Freeze" }).isDisabled()).toBe(true);
    await dialog.getByLabel("Reason").fill("Its agents send advertising.");
    await dialog.getByRole("button", { name: "Freeze" }).click();
    await page.getByText("Its agents send advertising.").first().waitFor();
    await page.getByText("Frozen").first().waitFor();
    await console.shoot("frozen-account");
    const { body } = await fleet.ada.get<{ agents: { id: string; name: string }[] }>("/api/agents");
    const agent = body.agents.find(({ name }) => name === "Ferry");
    await using owner = await openConsole(fleet.berth, fleet.ada);
    await owner.open(`/agents/${agent?.id}`);
    await owner.page.getByText("The operator has frozen this account: Its agents send advertising.").waitFor();
    await owner.page.getByText("Paused by the operator").waitFor();
    expect(await owner.page.getByRole("button", { name: "Start", exact: true }).count()).toBe(0);
    await page.getByRole("button", { name: "Let it go on" }).click();
    await page.getByRole("button", { name: "Freeze the account" }).waitFor();
    // The owner's page follows.
    await owner.page.getByText("The operator has frozen this account").waitFor({ state: "detached" });
    await owner.page.getByRole("button", { name: "Stop", exact: true }).waitFor();
    expect(await audited()).toEqual(expect.arrayContaining(["user.freeze", "user.unfreeze"]));
    expect([...console.complaints(), ...owner.complaints()]).toEqual([]);
  });

  test("are made and deleted; the address must be typed", async () => {
    await using console = await open("/admin/users");
    const { page } = console;
    await page.getByRole("button", { name: "New account" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Email address").fill(fleet.ada.account.email);
    await dialog.getByRole("button", { name: "Make the account" }).click();
    await dialog.getByRole("alert").waitFor();
    await dialog.getByLabel("Email address").fill("new-person@example.com");
    await dialog.getByRole("button", { name: "Make the account" }).click();
    await page.getByRole("heading", { level: 1, name: /new-person/ }).waitFor();
    await page.getByRole("button", { name: "Delete the account" }).click();
    const remove = dialog.getByRole("button", { name: "Delete for good" });
    expect(await remove.isDisabled()).toBe(true);
    await dialog.getByRole("textbox").fill("new-person@example.com");
    await remove.click();
    await page.getByRole("heading", { name: "Accounts", level: 1 }).waitFor();
    await page.getByText("The account is deleted.").waitFor();
    expect(console.complaints()).toEqual([]);
  });

  test("that do not exist are said to", async () => {
    await using console = await open("/admin/users/nobody");
    await console.page.getByRole("alert").waitFor();
  });
});

test("the palette finds accounts and agents of others, and starts what an admin does", async () => {
  await using console = await open("/");
  const { page } = console;
  const field = page.getByRole("combobox", { name: "Page, agent or action" });
  await page.keyboard.press("Control+k");
  await field.fill(fleet.bob.account.email);
  await page.getByRole("option", { name: `${HOSTILE} · ${fleet.bob.account.email}` }).click();
  await page.getByRole("heading", { level: 1, name: HOSTILE }).waitFor();
  await page.keyboard.press("Control+k");
  await field.fill("lighthouse");
  await page.getByRole("option", { name: "Search all agents for “lighthouse”" }).click();
  await page.getByRole("button", { name: "Stop: Lighthouse" }).waitFor();
  await page.keyboard.press("Control+k");
  await field.fill("new account");
  await page.getByRole("option", { name: "New account", selected: true }).waitFor();
  await page.keyboard.press("Enter");
  await page.getByRole("dialog").getByLabel("Email address").waitFor();
  expect(await page.title()).not.toBe("owned");
  expect(console.complaints()).toEqual([]);
});

describe("agents", () => {
  test("shows at once what happens to an agent of another account, and finds channels by their bots", async () => {
    await using console = await open("/admin/agents?query=Pilot");
    const { page } = console;
    const row = page.getByRole("article").filter({ hasText: "Pilot" });
    await row.getByText("Answers").waitFor();
    const { body } = await fleet.ada.get<{ agents: { id: string; name: string }[] }>("/api/agents");
    const pilot = body.agents.find(({ name }) => name === "Pilot");
    await fleet.ada.post(`/api/agents/${pilot?.id}/stop`);
    await row.getByText("Stopped").waitFor();
    await fleet.ada.post(`/api/agents/${pilot?.id}/start`);
    await row.getByText("Answers").waitFor();

    await console.open("/admin/channels");
    const bots = page.getByText(/@\d_harbour_bot/).filter({ visible: true });
    await bots.nth(2).waitFor();
    await page.getByLabel("Agent, bot or owner").fill("8_harbour");
    await eventually(async () => (await bots.count()) === 1);
    await page.getByLabel("Agent, bot or owner").fill("no such bot");
    await page.getByText("No channel is called so").waitFor();
    expect(console.complaints()).toEqual([]);
  });

  test("are frozen with a reason, and go on", async () => {
    await using console = await open("/admin/agents?query=ferry");
    const { page } = console;
    await page.getByRole("button", { name: "Freeze: Ferry" }).click();
    await page.getByLabel("Reason").fill("It insults people.");
    await page.getByRole("dialog").getByRole("button", { name: "Freeze", exact: true }).click();
    await page.getByText("It insults people.").waitFor();
    await page.getByText("Ferry is frozen.").waitFor();
    expect(await page.getByRole("button", { name: "Start: Ferry" }).count()).toBe(0);
    await console.shoot("frozen-agent");
    await page.getByRole("button", { name: "Let it go on: Ferry" }).click();
    await page.getByRole("button", { name: "Stop: Ferry" }).waitFor();
    expect(console.complaints()).toEqual([]);
  });

  test("are sorted and filtered in the address, stopped and started again by undo", async () => {
    await using console = await open("/admin/agents?sort=name");
    const { page } = console;
    const names = page.getByRole("article").getByRole("heading");
    await names.nth(1).waitFor();
    expect(await names.nth(1).textContent()).toBe("Anchor");
    await page.getByRole("searchbox").fill("Light");
    await page.waitForURL(/query=Light/);
    await page.getByRole("button", { name: "Stop: Lighthouse" }).click();
    await page.getByText("Lighthouse is stopped.").waitFor();
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByRole("button", { name: "Stop: Lighthouse" }).waitFor();
    expect(await audited()).toEqual(expect.arrayContaining(["agent.stop", "agent.start"]));
    await page.getByRole("radio", { name: "Stopped" }).check({ force: true });
    await page.waitForURL(/status=stopped/);
    await page.reload();
    await page.getByText("No agent is like this").waitFor();
    expect(console.complaints()).toEqual([]);
  });
});

test("usage has days in UTC, the same for viewers of every zone; other times are in theirs", async () => {
  await using console = await openConsole(fleet.berth, fleet.root);
  const { page, context } = console;
  await context.addInitScript({ content: 'localStorage.setItem("berth-time-zone", "America/New_York")' });
  const [request] = await Promise.all([
    page.waitForRequest(/api\/admin\/usage\?from=.*by=day/),
    console.open("/admin/usage"),
  ]);
  const from = Date.parse(new URL(request.url()).searchParams.get("from") ?? "");
  await page.getByText("The numbers").click();
  const day = (at: number) => new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeZone: "UTC" }).format(at);
  const days = page.getByRole("region", { name: "Cost by day" }).getByRole("row");
  await days.nth(1).getByText(day(from)).waitFor();
  await days
    .last()
    .getByText(day(from + 29 * 86_400_000))
    .waitFor();
});

describe("providers", () => {
  test("show their state and cost, and lead to their keys", async () => {
    await using console = await open("/admin/providers");
    const { page } = console;
    const card = page.getByRole("article").first();
    await card.getByText(/model/).first().waitFor();
    expect(await card.textContent()).toContain("$");
    await page.getByRole("link", { name: "Keys and models" }).click();
    await page.waitForURL(/\/admin\/models/);
    expect(console.complaints()).toEqual([]);
  });
});

describe("channels, jobs and settings", () => {
  test("channels are filtered by state", async () => {
    await using console = await open("/admin/channels");
    const { page } = console;
    await page.getByText("@0_harbour_bot").waitFor();
    await page.getByRole("radio", { name: /Agent stopped/ }).check({ force: true });
    await page.waitForURL(/state=stopped/);
    await page.getByText("@8_harbour_bot").waitFor();
    await page.getByText("@0_harbour_bot").waitFor({ state: "detached" });
  });

  test("a failed job is tried again; a discarded one comes back by undo", async () => {
    await using console = await open("/admin/jobs");
    const { page } = console;
    await page.getByText(HOSTILE).waitFor();
    const row = page.getByRole("row").filter({ hasText: "lifecycle.strangers-out" }).first();
    await row.getByRole("button", { name: "Discard" }).click();
    await page.getByText("The job is discarded.").waitFor();
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByText(HOSTILE).waitFor();
    await page.getByRole("button", { name: "Try these 2 again" }).click();
    await page.getByText("2 jobs are tried again.").waitFor();
    expect((await audited()).filter((action) => action === "job.retry")).toHaveLength(2);
    expect(console.complaints()).toEqual([]);
  });

  test("on a phone each row is a stack, with its buttons in sight", async () => {
    await using console = await openConsole(fleet.berth, fleet.root, { theme: "light", width: 390 });
    await console.open("/admin/users");
    const row = console.page.getByRole("list", { name: "Accounts" }).getByRole("listitem");
    await row.filter({ hasText: fleet.ada.account.email }).getByText("Second factor").waitFor();
    expect(await console.page.getByRole("table").count()).toBe(0);
  });

  test("settings show their source, and no secret", async () => {
    await using console = await open("/admin/settings");
    const { page } = console;
    await page.getByRole("heading", { name: "PROVIDER_2_API_KEY" }).waitFor();
    expect(await page.content()).not.toContain("test-key-of-the-fleet");
    await page.getByRole("radio", { name: "All" }).check({ force: true });
    await page.getByRole("searchbox").fill("smtp");
    await page.getByRole("heading", { name: "SMTP_URL" }).waitFor();
  });
});

describe("backups", () => {
  test("are made while the service runs, downloaded, and deleted with undo", async () => {
    await using console = await open("/admin/storage");
    const { page } = console;
    await page.getByRole("button", { name: "Make a backup now" }).click();
    await page.getByText("Checked").waitFor();
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("link", { name: /^Download/ }).click(),
    ]);
    expect(download.suggestedFilename()).toMatch(/^berth-.*\.tar\.gz$/);
    const start = await Bun.file(await download.path())
      .slice(0, 2)
      .bytes();
    expect([...start]).toEqual([0x1f, 0x8b]);
    await page.getByRole("button", { name: /^Delete/ }).click();
    await page.getByText("No backup here yet.", { exact: false }).waitFor();
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByText("Checked").waitFor();
    expect(await audited()).toEqual(expect.arrayContaining(["backup.create", "backup.download"]));
    expect(console.complaints()).toEqual([]);
  });
});

describe("each page is accessible in both themes, sizes and languages", () => {
  const nothing = async () => undefined;
  const PAGES: [name: string, path: () => string, prepare: (page: Page) => Promise<void>][] = [
    ["admin-users", () => "/admin/users", nothing],
    ["admin-user", () => `/admin/users/${fleet.adaId}`, nothing],
    ["admin-agents", () => "/admin/agents", nothing],
    ["admin-usage", () => "/admin/usage?by=agent", nothing],
    ["admin-providers", () => "/admin/providers", nothing],
    ["admin-channels", () => "/admin/channels", nothing],
    ["admin-jobs", () => "/admin/jobs", nothing],
    ["admin-storage", () => "/admin/storage", nothing],
    ["admin-settings", () => "/admin/settings?show=all", nothing],
    ["admin-audit", () => "/admin/audit", nothing],
    ["admin-versions", () => "/admin/versions", nothing],
    [
      "admin-new-account",
      () => "/admin/users",
      async (page) => {
        await page.getByRole("button", { name: /New account|Neues Konto/ }).click();
        await page.getByRole("dialog").waitFor();
      },
    ],
  ];

  test.each(PAGES)("%s", async (name, path, prepare) => {
    await expectAccessible(fleet.berth, fleet.root, path(), {
      name,
      async prepare(page) {
        await page.locator(".skeleton").first().waitFor({ state: "detached" });
        await prepare(page);
      },
    });
  });

  test("admin-frozen", async () => {
    await fleet.root.post(`/api/admin/users/${fleet.adaId}/freeze`, { reason: "Its agents send advertising." });
    try {
      const settled = { prepare: (page: Page) => page.locator(".skeleton").first().waitFor({ state: "detached" }) };
      await expectAccessible(fleet.berth, fleet.root, `/admin/users/${fleet.adaId}`, {
        name: "frozen-user",
        ...settled,
      });
      await expectAccessible(fleet.berth, fleet.root, "/admin/agents", { name: "frozen-agents", ...settled });
      const { body } = await fleet.ada.get<{ agents: { id: string }[] }>("/api/agents");
      const path = `/agents/${body.agents[0]?.id}`;
      await expectAccessible(fleet.berth, fleet.ada, path, { name: "frozen-owner", ...settled });
    } finally {
      await fleet.root.post(`/api/admin/users/${fleet.adaId}/unfreeze`);
    }
  });

  test("admin-overview", async () => {
    await expectAccessible(fleet.berth, fleet.root, "/admin", {
      name: "admin-overview",
      async prepare(page) {
        await showDay(page);
        await page.reload();
        await page.locator("canvas").nth(7).waitFor();
      },
    });
  });
});
