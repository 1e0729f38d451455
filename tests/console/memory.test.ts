// The pages of an agent's memory, skills, schedules and people in Chromium.

import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { type Berth, startBerth } from "../support/berth.ts";
import type { Client } from "../support/client.ts";
import { pdfOf } from "../support/documents.ts";
import { eventually } from "../support/eventually.ts";
import { member, provision } from "../support/members.ts";
import { expectAccessible, openConsole } from "./support/console.ts";

let berth: Berth;
let ada: Client;
let id: string;
let base: string;

beforeAll(async () => {
  berth = await startBerth({ env: { RATE_LIMITS: "off" } });
  ada = await member(berth, "enterprise");
  ({ id } = await provision(ada, "Harbour", { timezone: "Europe/Vienna" }));
  base = `/agents/${id}`;
});
afterAll(() => berth?.[Symbol.asyncDispose]());

const memories = (query = "") =>
  ada.get<{ memories: { id: string; text: string; pinned: boolean; source: string }[] }>(
    `/api/agents/${id}/memories${query}`,
  );
const textsKnown = async () => (await memories()).body.memories.map(({ text }) => text);
const teach = (text: string, more: object = {}) => ada.post(`/api/agents/${id}/memories`, { text, ...more });
const HOSTILE = `<img src=x onerror=alert(1)> [x](javascript:alert(1)) "><script>alert(1)</script>`;

describe("memory", () => {
  test("an empty one teaches; facts are taught, found, corrected, pinned and forgotten, with undo", async () => {
    await using console = await openConsole(berth, ada);
    const { page } = console;
    await console.open(`${base}/memory`);
    await page.getByRole("button", { name: "Teach the first fact" }).click();
    await page.getByLabel("What should it know?").fill("Ada drinks tea");
    await page.getByRole("button", { name: "Remember" }).click();
    const tea = page.getByRole("article", { name: "Ada drinks tea" });
    await tea.waitFor();
    await teach("The ship is called Wanda");
    await page.reload();
    await tea.getByRole("button", { name: "Correct" }).click();
    await page.getByLabel("Correct this fact").fill("the ship is called WANDA");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("The agent knows this already").waitFor();
    await page.getByLabel("Correct this fact").fill("Ada drinks coffee");
    await page.keyboard.press("Enter");
    const coffee = page.getByRole("article", { name: "Ada drinks coffee" });
    await coffee.getByRole("button", { name: /^Pin/ }).click();
    await coffee.getByText("Pinned").waitFor();
    await eventually(async () => (await memories()).body.memories[0]?.pinned === true);

    await page.getByLabel("Search the memory").fill("wanda");
    await coffee.waitFor({ state: "detached" });
    expect(new URL(page.url()).searchParams.get("q")).toBe("wanda");
    await page.reload();
    const ship = page.getByRole("article", { name: "The ship is called Wanda" });
    await ship.getByRole("button", { name: "Forget" }).click();
    await ship.waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Undo" }).click();
    await ship.waitFor();
    expect(await textsKnown()).toContain("The ship is called Wanda");
    await ship.getByRole("button", { name: "Forget" }).click();
    await page.getByRole("region", { name: "Messages" }).getByRole("button", { name: "Close" }).click();
    await eventually(async () => !(await textsKnown()).includes("The ship is called Wanda"));
    await page.getByText("No fact fits").waitFor();
    expect(console.complaints()).toEqual([]);
  });

  test("a fact that was forgotten just before its page is left stays forgotten", async () => {
    await teach("The anchor is rusty");
    await using console = await openConsole(berth, ada);
    const { page } = console;
    // Whether a request outlives its page shows only on slow connections, so it is asked of the request.
    await page.addInitScript(`
      const original = fetch;
      window.fetch = (input, init) => {
        if (init?.method === "DELETE") localStorage.outlives = init.keepalive === true;
        return original(input, init);
      };`);
    await console.open(`${base}/memory?q=anchor`);
    await page.getByRole("article", { name: "The anchor is rusty" }).getByRole("button", { name: "Forget" }).click();
    await page.getByRole("button", { name: "Undo" }).waitFor();
    await page.goto("/login");
    await eventually(async () => !(await textsKnown()).includes("The anchor is rusty"));
    expect(await page.evaluate("localStorage.outlives")).toBe("true");
  });

  test("facts of other people are apart, untrusted ones are marked, and hostile ones are text", async () => {
    await teach(HOSTILE);
    await teach("Bob likes rum", { about: "channel_a:7" });
    const database = new Database(join(berth.dir, "data", "berth.db"));
    database.exec("PRAGMA busy_timeout = 5000");
    database.exec("UPDATE memories SET taint = 2, source = 'agent' WHERE content LIKE '<img%'");
    database.close();
    await using console = await openConsole(berth, ada);
    const { page } = console;
    await console.open(`${base}/memory`);
    await page.getByText(HOSTILE).waitFor();
    expect(await page.locator("main img, main article script, main article a").count()).toBe(0);
    await page.getByText("Untrusted").waitFor();
    await page.getByText("Other people's").click();
    await page.getByRole("button", { name: /Known only to 7 · Telegram/ }).click();
    await page.getByRole("article", { name: "Bob likes rum" }).waitFor();
    expect(new URL(page.url()).searchParams.get("about")).toBe("channel_a:7");
    await page.goBack();
    expect(console.complaints()).toEqual([]);
  });

  test("what fails says so: the server is gone, a full memory, an agent of somebody else", async () => {
    await using console = await openConsole(berth, ada);
    const { page } = console;
    await console.open(`${base}/memory`);
    await page.route(/memories/, (route) => route.abort());
    await page.getByRole("button", { name: "Teach a fact" }).click();
    await page.getByLabel("What should it know?").fill("x");
    await page.getByRole("button", { name: "Remember" }).click();
    await page.getByText("Berth can't be reached").first().waitFor();
    await page.unroute(/memories/);
    await page.route(/memories/, (route) =>
      route.fulfill({ status: 409, json: { error: "The memory is full.", code: "MEMORY_FULL" } }),
    );
    await page.getByRole("button", { name: "Remember" }).click();
    await page.getByText("The memory is full.").waitFor();
    const eve = await member(berth);
    await using other = await openConsole(berth, eve);
    await other.page.goto(`${base}/memory`);
    await other.page.getByText("You have no agent with this id").waitFor();
  });

  test("is accessible", async () => {
    const { id: wanda } = await agentWithMemories();
    const at = `/agents/${wanda}/memory`;
    const shown = (page: Page) => page.getByText("Bob is allergic to nuts.").waitFor();
    await expectAccessible(berth, ada, at, { name: "memory", prepare: shown });
    await expectAccessible(berth, ada, at, {
      name: "memory-correct",
      async prepare(page, { language }) {
        await shown(page);
        const correct = page.getByRole("button", { name: language === "de" ? "Verbessern" : "Correct" });
        await correct.nth(1).click();
        await page.getByRole("button", { name: language === "de" ? "Etwas beibringen" : "Teach a fact" }).click();
      },
    });
    const { id: fresh } = await provision(ada, "Fresh");
    await expectAccessible(berth, ada, `/agents/${fresh}/memory`, {
      name: "memory-empty",
      prepare: (page) => page.getByText(/Nothing yet|Noch nichts/).waitFor(),
    });
  });
});

async function agentWithMemories() {
  const agent = await provision(ada, "Wanda");
  const learn = (text: string, more: object = {}) => ada.post(`/api/agents/${agent.id}/memories`, { text, ...more });
  await learn("Bob is allergic to nuts.", { about: "channel_a:4471" });
  await learn("The harbour office is at pier 4, and closes at six.");
  await learn("The price list of 2026 is on the web page, under “Berths”.");
  await learn("Ada prefers short answers, and metric units.", { pinned: true });
  const database = new Database(join(berth.dir, "data", "berth.db"));
  database.exec("PRAGMA busy_timeout = 5000");
  database.exec("UPDATE memories SET taint = 2, source = 'agent' WHERE content LIKE 'The price list%'");
  database.close();
  return agent;
}

describe("skills", () => {
  const skillOf = async (skill: string) =>
    (await ada.get<{ skills: { id: string; enabled: boolean }[] }>(`/api/agents/${id}/skills`)).body.skills.find(
      (one) => one.id === skill,
    );
  const approvals = async () =>
    (await ada.get<{ config: { approvals?: object } }>(`/api/agents/${id}/config`)).body.config.approvals;

  test("are switched, with undo; approvals are chosen by kind and by tool, and kept in the configuration", async () => {
    await using console = await openConsole(berth, ada);
    const { page } = console;
    await console.open(`${base}/skills`);
    const wallet = page.getByRole("article", { name: "Wallet" });
    await wallet.getByRole("switch").click();
    await eventually(async () => (await skillOf("wallet"))?.enabled === true);
    await page.getByRole("button", { name: "Undo" }).click();
    await eventually(async () => (await skillOf("wallet"))?.enabled === false);

    const outside = page.getByRole("group", { name: "Acts outside: allow, ask or forbid" });
    await outside.getByText("Ask", { exact: true }).click();
    await eventually(async () => Bun.deepEquals(await approvals(), { outside: "ask" }));
    await page.getByRole("button", { name: "Add an exception" }).click();
    await page.getByLabel("Tool").selectOption("web_fetch");
    await eventually(async () => Bun.deepEquals(await approvals(), { outside: "ask", web_fetch: "ask" }));
    await page
      .getByRole("group", { name: "Read a web page: allow, ask or forbid" })
      .getByText("Forbid", { exact: true })
      .click();
    await eventually(async () => Bun.deepEquals(await approvals(), { outside: "ask", web_fetch: "deny" }));
    expect((await ada.get<{ config: object }>(`/api/agents/${id}/config`)).body.config).toMatchObject({
      timezone: "Europe/Vienna",
    });
    expect(console.complaints()).toEqual([]);
  });

  test("a configuration that somebody else changed meanwhile is not overwritten", async () => {
    await using console = await openConsole(berth, ada);
    const { page } = console;
    await console.open(`${base}/skills`);
    await page.getByRole("group", { name: "Spends money: allow, ask or forbid" }).waitFor();
    await ada.put(`/api/agents/${id}/config`, { instructions: "Be brief.", timezone: "Europe/Vienna" });
    await page
      .getByRole("group", { name: "Spends money: allow, ask or forbid" })
      .getByText("Ask", { exact: true })
      .click();
    await page.getByText("The configuration was changed meanwhile").waitFor();
    expect((await ada.get<{ config: object }>(`/api/agents/${id}/config`)).body.config).toEqual({
      instructions: "Be brief.",
      timezone: "Europe/Vienna",
    });
  });

  test("a provider's key is set, never shown, and removed", async () => {
    const key = `sk-${"k".repeat(40)}`;
    await using console = await openConsole(berth, ada);
    const { page } = console;
    await console.open(`${base}/skills`);
    await page.getByRole("button", { name: "Set a key for OpenAI" }).click();
    await page.getByLabel("Key for OpenAI").fill(key);
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("The key for OpenAI is set").waitFor();
    expect(await page.content()).not.toContain(key);
    await page.getByRole("button", { name: "Remove the key for OpenAI" }).click();
    await page.getByText("The key for OpenAI is removed").waitFor();
    expect(console.complaints()).toEqual([]);
  });

  test("are accessible", async () => {
    await expectAccessible(berth, ada, `${base}/skills`, {
      name: "skills",
      async prepare(page) {
        await page.getByRole("group", { name: /Acts outside|Handelt nach außen/ }).waitFor();
        await page.locator("summary").first().click();
      },
    });
  });
});

describe("schedules", () => {
  interface Item {
    id: string;
    name: string;
    cron: string | null;
    timezone: string;
    enabled: boolean;
  }
  const at = () => `/api/agents/${id}/schedules`;
  const list = async () => (await ada.get<{ schedules: Item[] }>(at())).body.schedules;

  test("one is made in words with a preview, changed, run, paused and deleted with undo", async () => {
    await using console = await openConsole(berth, ada);
    const { page } = console;
    await console.open(`${base}/schedules`);
    await page.getByRole("button", { name: "New schedule" }).click();
    await page.getByLabel("What should it do?").fill("Say what the weather is like.");
    await page.getByLabel("Name", { exact: true }).fill("Weather");
    await page.getByLabel("How often").selectOption("weekly");
    await page.getByText("Fri", { exact: true }).click();
    await page.getByLabel("At", { exact: true }).fill("08:30");
    await page.getByRole("region", { name: "The next runs" }).getByRole("listitem").nth(4).waitFor();
    await page.getByRole("button", { name: "Make the schedule" }).click();
    await page.getByText(/Every Monday and Friday at 08:30/).waitFor();
    expect(await list()).toMatchObject([{ name: "Weather", cron: "30 8 * * 1,5", timezone: "Europe/Vienna" }]);

    await page.getByRole("button", { name: "Change Weather" }).click();
    expect(await page.getByLabel("At", { exact: true }).inputValue()).toBe("08:30");
    await page.getByLabel("How often").selectOption("cron");
    await page.getByLabel("Cron text").fill("0 0 31 2 *");
    await page.getByText("its day never comes").waitFor();
    await page.getByLabel("Cron text").fill("0 7 * * *");
    await page.getByLabel("Time zone").fill("Asia/Tokyo");
    await page.getByText("The next runs, in your time").waitFor();
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText(/Every day at 07:00/).waitFor();
    await page.getByText("Asia/Tokyo").waitFor();

    await page.getByRole("button", { name: "Run Weather now" }).click();
    const history = page.getByRole("region", { name: "History of Weather" });
    await history.getByText("Done").waitFor();
    await history.getByText("Started by hand.").waitFor();
    expect(await history.getByRole("link", { name: "See the conversation" }).getAttribute("href")).toMatch(
      /\/chat\/sess_/,
    );

    await history.getByRole("link", { name: "See the conversation" }).click();
    await page.waitForURL(/\/chat\/sess_/);
    await page.getByText("Say what the weather is like.").first().waitFor();
    await page.goBack();
    await history.getByText("Started by hand.").waitFor();

    await page.getByRole("switch", { name: "Weather is on" }).click();
    await eventually(async () => (await list())[0]?.enabled === false);
    await page.getByRole("button", { name: "Delete Weather" }).click();
    await page.getByText("Nothing planned").waitFor();
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByRole("heading", { name: "Weather" }).waitFor();
    expect(await list()).toHaveLength(1);
    expect(console.complaints()).toEqual([]);
  });

  test("a run that begins in another place appears by itself", async () => {
    const [weather] = await list();
    await using console = await openConsole(berth, ada);
    const { page } = console;
    await console.open(`${base}/schedules?history=${weather?.id}`);
    const done = page.getByRole("region", { name: "History of Weather" }).getByText("Done");
    await done.first().waitFor();
    await ada.post(`${at()}/${weather?.id}/run`);
    await done.nth(1).waitFor();
  });

  test("hostile names and tasks are text; those of the configuration can only be paused", async () => {
    await ada.post(at(), { name: HOSTILE, prompt: HOSTILE, cron: "@daily", deliver: { webhook: true } });
    await ada.put(`/api/agents/${id}/config`, {
      schedules: [{ name: "Mail", cron: "@hourly", prompt: "Look at the mail." }],
    });
    await eventually(async () => (await list()).some(({ name }) => name === "Mail"));
    await using console = await openConsole(berth, ada);
    const { page } = console;
    await console.open(`${base}/schedules`);
    await page.getByText(HOSTILE).first().waitFor();
    expect(await page.locator("main img, main li script").count()).toBe(0);
    expect(await page.getByRole("button", { name: "Change Mail" }).isDisabled()).toBe(true);
    await page.getByRole("switch", { name: "Mail is on" }).click();
    await eventually(async () => (await list()).find(({ name }) => name === "Mail")?.enabled === false);
    expect(console.complaints()).toEqual([]);
  });

  test("a refusal is shown in the editor: a plan's limit, and too many requests", async () => {
    await using console = await openConsole(berth, ada);
    const { page } = console;
    await console.open(`${base}/schedules?edit=new`);
    await page.getByLabel("What should it do?").fill("Hi");
    const refuse = async (status: number, code: string, error: string) => {
      await page.route(/schedules$/, (route) => route.fulfill({ status, json: { error, code } }), { times: 1 });
      await page.getByRole("button", { name: "Make the schedule" }).click();
      await page.getByText(error).waitFor();
    };
    await refuse(429, "SCHEDULE_LIMIT_REACHED", "Your plan has room for 10 schedules.");
    await refuse(503, "STORAGE_UNAVAILABLE", "The database can't be reached.");
  });

  test("are accessible, with the editor and the history open", async () => {
    const [first] = await list();
    await expectAccessible(berth, ada, `${base}/schedules?history=${first?.id}`, {
      name: "schedules",
      prepare: (page) => page.getByRole("heading", { name: "Weather" }).waitFor(),
    });
    const { id: busy } = await provision(ada, "Wanda");
    const plan = (body: object) => ada.post<{ schedule: Item }>(`/api/agents/${busy}/schedules`, body);
    await plan({
      name: "Tides",
      prompt: "Say when high water is, and at which pier there is room.",
      cron: "30 6 * * *",
      timezone: "America/New_York",
    });
    await plan({
      name: "News",
      prompt: "Sum up the news about ports.",
      cron: "0 9 * * 1-5",
      timezone: "Europe/Vienna",
    });
    const { body } = await plan({
      name: "Look at the pumps",
      prompt: "Look at the pumps.",
      cron: "*/30 * * * *",
      deliver: { webhook: true },
    });
    await ada.post(`/api/agents/${busy}/schedules/${body.schedule.id}/run`);
    await eventually(
      async () =>
        (await ada.get<{ schedule: { lastStatus: string } }>(`/api/agents/${busy}/schedules/${body.schedule.id}`)).body
          .schedule.lastStatus === "done",
    );
    const database = new Database(join(berth.dir, "data", "berth.db"));
    database.exec("PRAGMA busy_timeout = 5000");
    database.exec(
      `UPDATE schedules SET enabled = 0, failures = 5, status_reason = 'x', last_status = 'failed',
        deliver = '{"platform":"channel_a","peer":"4471"}' WHERE name = 'News'`,
    );
    database.close();
    await expectAccessible(berth, ada, `/agents/${busy}/schedules?history=${body.schedule.id}`, {
      name: "schedules-busy",
      prepare: (page) => page.getByText(/Started by hand|Von Hand gestartet/).waitFor(),
    });
    await expectAccessible(berth, ada, `/agents/${busy}/schedules?edit=new`, {
      name: "schedules-editor",
      prepare: (page) => page.locator("dialog ol li").nth(4).waitFor(),
    });
    const { id: fresh } = await provision(ada, "Empty");
    await expectAccessible(berth, ada, `/agents/${fresh}/schedules`, {
      name: "schedules-empty",
      prepare: (page) => page.getByText(/Nothing planned|Nichts geplant/).waitFor(),
    });
  });
});

describe("files", () => {
  const filePath = () => `/api/agents/${id}/files`;
  const known = async () =>
    (await ada.get<{ files: { id: string; name: string; status: string }[] }>(filePath())).body.files;

  test("an empty list teaches; files are dropped, read, found with page, and deleted with undo", async () => {
    await using console = await openConsole(berth, ada);
    const { page } = console;
    await console.open(`${base}/memory`);
    await page.getByText("Files", { exact: true }).click();
    await page.getByText("No files yet").waitFor();
    await expectAccessible(berth, ada, `${base}/memory?show=files`, { name: "files-empty" });
    const pdf = pdfOf(["About coffee", "Green tea needs water of eighty degrees."], "Brewing");
    await page.locator("input[type=file]").setInputFiles([
      { name: "brewing.pdf", mimeType: "application/pdf", buffer: Buffer.from(pdf) },
      { name: "scan.pdf", mimeType: "application/pdf", buffer: Buffer.from(pdfOf([""])) },
      { name: "cup.png", mimeType: "image/png", buffer: Buffer.from([0x89, 0x50, 0, 0]) },
    ]);
    const brewing = page.getByRole("article", { name: "brewing.pdf" });
    await brewing.getByText("2 passages").waitFor();
    await page
      .getByRole("article", { name: "scan.pdf" })
      .getByText(/run text recognition/)
      .waitFor();
    await page
      .getByRole("alert")
      .getByText(/cup\.png/)
      .waitFor();
    await page.getByRole("meter", { name: "Passages" }).waitFor();
    await expectAccessible(berth, ada, `${base}/memory?show=files`, { name: "files" });

    await page.getByLabel(/Try a question/).fill("How hot is the water?");
    await page.getByText("page 2").waitFor();
    await page.getByText("Green tea needs water of eighty degrees.").waitFor();
    await expectAccessible(berth, ada, `${base}/memory?show=files&q=water`, { name: "files-search" });
    await page.reload();
    await page.getByText("page 2").waitFor();
    await page.getByLabel(/Try a question/).fill("submarine");
    await page.getByText("Nothing fits").waitFor();
    await page.getByLabel(/Try a question/).fill("");

    await brewing.getByRole("button", { name: "Delete" }).click();
    await brewing.waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Undo" }).click();
    await brewing.waitFor();
    await brewing.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("region", { name: "Messages" }).getByRole("button", { name: "Close" }).click();
    await eventually(async () => !(await known()).some(({ name }) => name === "brewing.pdf"));
    expect(console.complaints()).toEqual([]);
  });

  test("an address that can't be read says why, and hostile names and passages are text", async () => {
    const form = new FormData();
    form.append("file", new File([`Words. ${HOSTILE}`], `${HOSTILE.replaceAll("/", "")}.txt`));
    const sent = await fetch(`${berth.web}${filePath()}`, {
      method: "POST",
      body: form,
      headers: { cookie: ada.cookie },
    });
    expect(sent.ok).toBe(true);
    // This file, and not one of an earlier test: a search before it is read finds nothing.
    await eventually(async () =>
      (await known()).some(({ name, status }) => name.endsWith(".txt") && status === "ready"),
    );
    await using console = await openConsole(berth, ada);
    const { page } = console;
    await console.open(`${base}/memory?show=files`);
    await page.getByLabel("Or the address of a page or file").fill("http://10.0.0.1/guide");
    await page.getByRole("button", { name: "Add" }).click();
    await page.getByRole("alert").first().waitFor();
    await page.getByLabel(/Try a question/).fill("words");
    await page.getByText(/Words\. <img/).waitFor();
    expect(await page.locator("main img, main li script, main li a").count()).toBe(0);
    await page.route(/api.*files/, (route) => route.abort());
    await page.reload();
    await page.getByRole("button", { name: /Try again/ }).waitFor();
  });
});

test("people: a receipt of an erasure is checked with its file; a changed one, and a file that is none, are told", async () => {
  const database = new Database(join(berth.dir, "data/berth.db"));
  database.run(
    "INSERT INTO pairings (agent_id, channel, sender_id, sender_name, peer, created_at) VALUES (?, 'channel_a', '4242', 'Grace', '4242', 1)",
    [id],
  );
  database.close();
  const { body: receipt } = await ada.delete(`/api/agents/${id}/people/channel_a/4242`);
  await using console = await openConsole(berth, ada);
  const { page } = console;
  await console.open(`${base}/people`);
  const check = async (content: unknown) => {
    const buffer = Buffer.from(typeof content === "string" ? content : JSON.stringify(content, null, 2));
    await page
      .getByLabel("File of a receipt")
      .setInputFiles({ name: "receipt.json", mimeType: "application/json", buffer });
  };
  await page.getByRole("button", { name: "Check a receipt" }).waitFor();
  await check(receipt);
  await page.getByText("This service made the receipt, and it is as it was.").waitFor();
  await check({ ...(receipt as object), endedAt: "2020-01-01T00:00:00.000Z" });
  await page.getByText("It is not as this service made it, or another service did.").waitFor();
  await check("hello");
  await page.getByText("This is no receipt of an erasure.").waitFor();
  await expectAccessible(berth, ada, `${base}/people`, {
    name: "people-receipts",
    // Half of the views are German, so the button's name is not the same in all.
    prepare: (page) => page.locator("input[type=file]").waitFor({ state: "attached" }),
  });
});
