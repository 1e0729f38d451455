// The page of usage in Chromium: range, chart, tables, budgets, plans and export, with its errors.

import { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { type Berth, startBerth } from "../support/berth.ts";
import { type Client, createClient } from "../support/client.ts";
import { eventually } from "../support/eventually.ts";
import { member, provision } from "../support/members.ts";
import { expectAccessible, openConsole } from "./support/console.ts";

const DAY = 86_400_000;
const EVIL = '=HYPERLINK("https://evil.example") <img src=x onerror=alert(1)>';

let berth: Berth;
let ada: Client;

beforeAll(async () => {
  berth = await startBerth({ env: { RATE_LIMITS: "off" } });
  ada = await member(berth, "pro");
  const harbour = await provision(ada, "Harbour", { budget: { usdPerDay: 2, usdPerMonth: 10 } });
  const evil = await provision(ada, EVIL.slice(0, 64), { budget: { usdPerDay: 0.5 } });
  const { id } = (await ada.get<{ id: string }>("/api/settings")).body;
  await berth.stop();
  const database = new Database(join(berth.dir, "data/berth.db"));
  const insert = database.prepare(
    `INSERT INTO usage (id, at, kind, user_id, agent_id, provider, model, input_tokens, output_tokens, cost_micro_usd,
      latency_ms, estimated) VALUES (?, ?, 'turn', ?, ?, ?, ?, ?, ?, ?, 5, 0)`,
  );
  const models = ["anthropic/claude-sonnet-4.5", "openai/gpt-5-mini", "google/gemini-3.5-flash", "a", "b"];
  const write = database.transaction(() => {
    for (let day = 0; day < 300; day++) {
      for (const [index, model] of models.entries()) {
        const agent = index === 4 ? null : index % 2 === 0 ? harbour.id : evil.id;
        // Waves, so that the bars differ.
        const cost = Math.round((600_000 / (index + 1)) * (1 + Math.sin(day / 5 + index)));
        const tokens = 1_000 * (index + 2);
        insert.run(
          `u-${day}-${index}`,
          Date.now() - day * DAY,
          id,
          agent,
          "provider_1",
          model,
          tokens,
          tokens / 5,
          cost,
        );
      }
    }
  });
  write();
  database.close();
  await berth.restart();
  await ada.signIn();
});
afterAll(() => berth?.[Symbol.asyncDispose]());

test("shows cost by day, model and agent, for the range and in the way of the address", async () => {
  await using console = await openConsole(berth, ada);
  const { page } = console;
  await console.open("/usage");
  await page.getByRole("img", { name: "Cost by day" }).waitFor();
  await page.getByRole("region", { name: "Cost by model" }).getByText("anthropic/claude-sonnet-4.5").waitFor();
  await page.getByRole("region", { name: "Cost by agent" }).getByRole("link", { name: "Harbour" }).waitFor();
  await page.getByRole("region", { name: "Cost by agent" }).getByText("=HYPERLINK").waitFor();
  await page.getByText("12 months").click();
  await page.getByRole("img", { name: "Cost by month" }).waitFor();
  expect(new URL(page.url()).searchParams.get("range")).toBe("12m");
  await page.getByText("By agent", { exact: true }).first().click();
  await page.getByRole("list", { name: "Legend" }).getByText("Harbour").waitFor();
  await page.reload();
  await page.getByRole("img", { name: "Cost by month" }).waitFor();
  await page.getByRole("list", { name: "Legend" }).getByText("Harbour").waitFor();
  await page.getByText("The numbers").click();
  await page.getByRole("region", { name: "Cost by month" }).getByRole("row").nth(5).waitFor();
  expect(console.complaints()).toEqual([]);
});

test("takes two dates, and says what is wrong with them", async () => {
  await using console = await openConsole(berth, ada);
  const { page } = console;
  await console.open("/usage");
  await page.getByText("Other", { exact: true }).click();
  const today = new Date().toISOString().slice(0, 10);
  await page.getByLabel("From").fill(today);
  await page.getByRole("region", { name: "Cost by model" }).waitFor();
  expect(new URL(page.url()).searchParams.get("from")).toBe(today);
  await page.getByLabel("From").fill("2020-01-01");
  await page.getByText(/at most 366 days/).waitFor();
});

test("shows budgets with what is spent, and the plan", async () => {
  await using console = await openConsole(berth, ada);
  const { page } = console;
  await console.open("/usage");
  await page.getByRole("meter", { name: "Included in your plan" }).waitFor();
  const budgets = page.getByRole("region").or(page.locator("section")).filter({ hasText: "Budgets of agents" }).last();
  await eventually(async () => (await budgets.getByRole("meter").count()) === 3);
  await budgets.getByText("used up").first().waitFor();
  const own = page.locator("li[aria-current]");
  await own.getByText("Pro").waitFor();
  await own.getByText("200 skills").waitFor();
});

test("exports the range as CSV", async () => {
  await using console = await openConsole(berth, ada);
  const { page } = console;
  await console.open("/usage?range=7d");
  await page.getByRole("region", { name: "Cost by model" }).waitFor();
  const download = page.waitForEvent("download");
  await page.getByRole("link", { name: "Export as CSV" }).click();
  const file = await download;
  expect(file.suggestedFilename()).toMatch(/^usage-\d{4}-\d\d-\d\d-\d{4}-\d\d-\d\d\.csv$/);
  const text = await Bun.file(await file.path()).text();
  expect(text.split("\r\n")).toHaveLength(7 * 5 + 2);
  expect(text).toContain(`"'=HYPERLINK`);
});

test("says when there is nothing yet, and what to do about errors", async () => {
  const bob = createClient(berth);
  await bob.join();
  await using console = await openConsole(berth, bob);
  const { page } = console;
  await console.open("/usage");
  await page.getByText("No calls in this time").waitFor();
  await page.getByText("No agent has a budget").waitFor();
  await page.route("**/api/usage?*", (route) =>
    route.fulfill({ status: 503, json: { error: "Berth is restarting.", code: "SHUTTING_DOWN", requestId: "r1" } }),
  );
  await console.open("/usage?range=7d");
  await page.getByText("Berth is restarting.").waitFor();
  await page.unroute("**/api/usage?*");
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByText("No calls in this time").waitFor();
  expect(console.complaints()).toEqual([]);
});

test("is accessible, with numbers open and with nothing to show", async () => {
  await expectAccessible(berth, ada, "/usage", {
    name: "usage",
    prepare: async (page) => void (await page.getByRole("meter").nth(3).waitFor()),
  });
  await expectAccessible(berth, ada, "/usage?range=12m&by=agent", {
    name: "usage-year",
    async prepare(page) {
      await page.locator("summary").first().click();
      await page.getByRole("meter").nth(3).waitFor();
    },
  });
  const bob = createClient(berth);
  await bob.join();
  await expectAccessible(berth, bob, "/usage", {
    name: "usage-empty",
    prepare: async (page) => void (await page.locator("li[aria-current]").waitFor()),
  });
});
