// An agent's log, figures and backups in Chromium.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { openConnection } from "../../src/kernel/database/connection.ts";
import { HOUR } from "../../src/kernel/util/time.ts";
import { type Berth, startBerth } from "../support/berth.ts";
import type { Client } from "../support/client.ts";
import { member, provision } from "../support/members.ts";
import { expectAccessible, openConsole } from "./support/console.ts";

const HOSTILE = `<script>document.title = "owned"</script> [x](javascript:alert(1)) <img src=https://evil.example/x>`;
const LINES = 450;

let berth: Berth;
let ada: Client;
let agentId: string;
let quietId: string;

beforeAll(async () => {
  berth = await startBerth();
  ada = await member(berth);
  ({ id: agentId } = await provision(ada, "Harbour"));
  ({ id: quietId } = await provision(ada, "Lighthouse"));
  // What a month of work leaves, which no test can wait for.
  await berth.stop();
  fill();
  await berth.restart({ keepPorts: true });
});
afterAll(() => berth?.[Symbol.asyncDispose]());

function fill(): void {
  const database = openConnection(join(berth.dir, "data/berth.db"));
  const now = Date.now();
  database.run("BEGIN");
  for (let n = 0; n < LINES; n++) {
    const at = now - HOUR - n * 1_000;
    const time = at.toString(16).padStart(12, "0");
    const id = `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-${n.toString(16).padStart(12, "0")}`;
    const message = n === 3 ? HOSTILE : n === LINES - 1 ? "the oldest line" : `line ${n}`;
    const sql = "INSERT INTO agent_logs (id, agent_id, at, level, source, message) VALUES (?, ?, ?, ?, 'test', ?)";
    database.run(sql, [id, agentId, at, n % 10 === 4 ? "error" : "info", message]);
  }
  for (let n = 0; n < 40; n++) {
    const sql = `INSERT INTO agent_hours (agent_id, hour, received, sent, turns_ok, turns_failed, input_tokens, output_tokens,
      cost_micro_usd, answer_ms, s2) VALUES (?, ?, 10, 9, 9, 1, 4000, 700, 12000, 14400, 9)`;
    database.run(sql, [agentId, Math.floor(now / HOUR) - n]);
  }
  database.run("COMMIT");
  database.close();
}

describe("the log", () => {
  test("shows new lines by themselves, holds them while it is paused, and shows everything as text", async () => {
    await using console = await openConsole(berth, ada);
    const { page } = console;
    await console.open(`/agents/${agentId}/logs`);
    const log = page.getByRole("region", { name: "Lines of the log" });
    await page.getByText("Live", { exact: true }).waitFor();
    await log.getByText(`<script>document.title`).waitFor();
    expect(await log.locator("a, img, script").count()).toBe(0);
    await ada.post(`/api/agents/${agentId}/stop`, {});
    await log.getByText("stop: the agent is stopped").waitFor();
    await page.getByRole("button", { name: "Pause" }).click();
    await ada.post(`/api/agents/${agentId}/start`, {});
    await page.getByRole("button", { name: "1 new line" }).click();
    await log.getByText("start: the agent is active").waitFor();
    expect(await page.title()).not.toBe("owned");
    expect(console.complaints()).toEqual([]);
  });

  test("leads from a line to the turn behind it, and to the page of what it is about", async () => {
    const made = await ada.post<{ schedule: { id: string } }>(`/api/agents/${agentId}/schedules`, {
      name: "Tides",
      prompt: "Say hello",
      cron: "0 9 * * *",
    });
    expect((await ada.post(`/api/agents/${agentId}/schedules/${made.body.schedule.id}/run`)).status).toBe(202);
    await using console = await openConsole(berth, ada);
    const { page } = console;
    await console.open(`/agents/${agentId}/logs`);
    const line = page.getByRole("listitem").filter({ hasText: 'The schedule "Tides" runs.' });
    await line.getByRole("button", { name: "Steps" }).click();
    await page
      .getByRole("dialog", { name: "The turn behind this reply" })
      .getByText("Tokens", { exact: true })
      .waitFor();
    expect(page.url()).toContain("turn=");
    await page.keyboard.press("Escape");
    await line.getByRole("link", { name: "Schedules" }).click();
    await page.getByRole("heading", { name: "Tides" }).or(page.getByText("Tides").first()).first().waitFor();
    expect(new URL(page.url()).pathname).toBe(`/agents/${agentId}/schedules`);
    expect(console.complaints()).toEqual([]);
  });

  test("goes back to its oldest line, and is filtered by level and words in the address", async () => {
    await using console = await openConsole(berth, ada);
    const { page } = console;
    await console.open(`/agents/${agentId}/logs`);
    const log = page.getByRole("region", { name: "Lines of the log" });
    await log.getByText("test line 1", { exact: true }).waitFor();
    const oldest = log.getByText("the oldest line");
    for (let n = 0; n < 40 && (await oldest.count()) === 0; n++) {
      await log.evaluate((box) => box.scrollTo(0, box.scrollHeight));
      await page.waitForFunction(() => true);
    }
    await oldest.waitFor();
    // Of so many lines, few are in the page.
    expect(await log.getByRole("listitem").count()).toBeLessThan(80);
    await page.getByLabel("Level").selectOption("error");
    await log.getByText("test line 4", { exact: true }).waitFor();
    expect(await log.getByText("test line 5", { exact: true }).count()).toBe(0);
    await page.getByRole("searchbox").fill("line 14");
    await page.waitForURL(/level=error&query=line\+14/);
    await page.reload();
    await log.getByText("test line 14", { exact: true }).waitFor();
    expect(await log.getByRole("listitem").count()).toBe(2);
    await page.getByRole("searchbox").fill("nothing like it");
    await page.getByText("No such line").waitFor();
    expect(console.complaints()).toEqual([]);
  });

  test(
    "is accessible",
    () =>
      expectAccessible(berth, ada, `/agents/${agentId}/logs`, {
        name: "logs",
        prepare: (page) => page.getByText("test line 1", { exact: true }).waitFor(),
      }),
    120_000,
  );
});

describe("the figures", () => {
  test("are drawn and in tables, for the time in the address", async () => {
    await using console = await openConsole(berth, ada);
    const { page } = console;
    await console.open(`/agents/${agentId}/figures`);
    await page.getByRole("img", { name: "Cost" }).locator("canvas").waitFor();
    await page.getByText("$0.29").waitFor();
    await page.getByText("30 days").click();
    await page.waitForURL(/range=month/);
    await page.getByText("$0.48").waitFor();
    await page.getByText("The numbers").first().click();
    await page.getByRole("table").first().getByText("Received").waitFor();
    await page.reload();
    await page.getByText("$0.48").waitFor();
    // Each line is told by its dashes too, and the legend shows the same.
    const legend = page.getByRole("img", { name: "Messages and answers" }).locator(".u-legend svg path");
    const dashes = await legend.evaluateAll((all) => all.map((one) => one.getAttribute("stroke-dasharray")));
    expect(dashes).toEqual(["", "6 4"]);
    expect(console.complaints()).toEqual([]);
  });

  test("of an agent without work say what will be there", async () => {
    await using console = await openConsole(berth, ada);
    await console.open(`/agents/${quietId}/figures`);
    await console.page.getByText("Nothing happened in this time").waitFor();
  });

  test(
    "are accessible",
    () =>
      expectAccessible(berth, ada, `/agents/${agentId}/figures`, {
        name: "figures",
        prepare: (page) => page.locator("canvas").last().waitFor(),
      }),
    120_000,
  );
});

describe("the backups", () => {
  test("are made, listed, and gone back to; the agent's file goes out and comes in", async () => {
    await using console = await openConsole(berth, ada);
    const { page } = console;
    await console.open(`/agents/${quietId}/backups`);
    await page.getByText("No backup yet").waitFor();
    await page.getByRole("button", { name: "Back up now" }).click();
    const list = page.getByRole("list", { name: "Backups" });
    await list.getByText("Made by you").waitFor();
    await ada.patch(`/api/agents/${quietId}`, { name: "Renamed" });
    await list.getByRole("button", { name: "Go back to this" }).click();
    await page.getByRole("button", { name: "Go back", exact: true }).click();
    await page.getByRole("heading", { name: "Lighthouse", level: 1 }).waitFor();
    await list.getByText("Before going back").waitFor();

    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("link", { name: "Export with conversations" }).click(),
    ]);
    const chooser = page.getByLabel("File of an exported agent");
    for (const [name, content, words] of [
      ["cat.json", "meow", "This file is not JSON."],
      ["notes.json", '{"a":1}', "There is no agent in this file"],
    ] as const) {
      const refused = page.waitForResponse(/\/api\/agents\/import$/);
      await chooser.setInputFiles({ name, mimeType: "", buffer: Buffer.from(content) });
      expect((await refused).status()).toBe(400);
      await page.getByRole("alert").getByText(words).waitFor();
      const { pathname } = new URL(page.url());
      expect({ name, pathname }).toEqual({ name, pathname: `/agents/${quietId}/backups` });
    }
    await chooser.setInputFiles(await download.path());
    await page.getByRole("status").getByRole("link", { name: "Lighthouse" }).click();
    await page.waitForURL((url) => !url.pathname.includes(quietId) && /^\/agents\/[^/]+$/.test(url.pathname));
    expect(console.complaints()).toEqual([]);
  });

  test("an update that is under way elsewhere, and a failing disk, are told", async () => {
    await using console = await openConsole(berth, ada);
    const { page } = console;
    await console.open(`/agents/${agentId}/backups`);
    const fail =
      (status: number, code: string, error: string) => (route: { fulfill: (answer: object) => Promise<void> }) =>
        route.fulfill({ status, json: { error, code } });
    await page.route("**/update", fail(409, "OPERATION_IN_PROGRESS", "This agent is being updated."));
    await page.getByRole("button", { name: "Update the runtime" }).click();
    await page.getByRole("alert").getByText("This agent is being updated.").waitFor();
    await page.unroute("**/update");
    await page.getByRole("button", { name: "Update the runtime" }).click();
    await page.getByText("It was on the newest runtime already").waitFor();
    await page.route("**/backups", fail(500, "BACKUP_FAILED", "The disk has no room for a backup."));
    await page.getByRole("button", { name: "Back up now" }).click();
    await page.getByText("The disk has no room for a backup.").waitFor();
  });

  test(
    "are accessible, also while one is chosen",
    () =>
      expectAccessible(berth, ada, `/agents/${quietId}/backups`, {
        name: "backups",
        async prepare(page) {
          await page.locator("main ul button").first().click();
          await page.getByRole("dialog").waitFor();
        },
      }),
    120_000,
  );
});
