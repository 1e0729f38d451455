// Tests how an agent is made of a file in the console: the report before, the agent after, and what is refused.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { CARD_V2, OPENCLAW, pngOf, zipOf } from "../../plugins/lifecycle/takeover/support.test.ts";
import { type Berth, startBerth } from "../support/berth.ts";
import type { Client } from "../support/client.ts";
import { member } from "../support/members.ts";
import { expectAccessible, openConsole } from "./support/console.ts";

let berth: Berth;
let ada: Client;
beforeAll(async () => {
  berth = await startBerth({ env: { RATE_LIMITS: "off", BOT_DETECTION: "off" } });
  ada = await member(berth, "enterprise");
});
afterAll(() => berth[Symbol.asyncDispose]());

const card = { name: "vera.png", mimeType: "image/png", buffer: Buffer.from(pngOf({ chara: CARD_V2 })) };
const workspace = { name: "claw.zip", mimeType: "application/zip", buffer: Buffer.from(zipOf(OPENCLAW)) };

async function chooseFile(page: Page, file: typeof card): Promise<void> {
  await page.getByText(/^(From a file|Aus einer Datei)$/).click();
  await page.locator('input[type="file"][accept*=".charx"]').setInputFiles(file);
}

describe("an agent from a file", () => {
  test("shows what is taken over before it is made", async () => {
    await using console = await openConsole(berth, ada);
    const { page } = console;
    await console.open("/agents?new=assistant");
    await page.getByText("What to do next").waitFor();
    await chooseFile(page, card);
    await page.getByText("A character card: Vera").waitFor();
    await page.getByText("The greeting of the public page, which is off").waitFor();
    const before = (await ada.get<{ count: number }>("/api/agents")).body.count;
    expect(before).toBe(0);
    await page.getByRole("button", { name: "Make the agent" }).click();
    await page.waitForURL(/\/agents\/[0-9a-f-]+$/);
    await page.getByRole("heading", { name: "Vera", level: 1 }).waitFor();
    const [, id = ""] = /agents\/([0-9a-f-]+)$/.exec(page.url()) ?? [];
    const { config } = (await ada.get<{ config: { timezone?: string } }>(`/api/agents/${id}/config`)).body;
    expect(config.timezone).toBe("Europe/Vienna");
    expect(console.complaints()).toEqual([]);
  });

  test("says which files there are to choose from, if it holds none", async () => {
    await using console = await openConsole(berth, ada);
    const { page } = console;
    await console.open("/agents?new=assistant");
    await chooseFile(page, { name: "notes.json", mimeType: "application/json", buffer: Buffer.from("hello") });
    await page.getByRole("alert").getByText("This file is not JSON. Berth takes its own exports").waitFor();
    await chooseFile(page, card);
    await page.getByText("A character card: Vera").waitFor();
    expect(await page.getByRole("alert").count()).toBe(0);
  });

  test("says when it was imported already, and makes another one if asked", async () => {
    await using console = await openConsole(berth, ada);
    const { page } = console;
    await console.open("/agents?new=assistant");
    await chooseFile(page, card);
    await page.getByRole("button", { name: "Make the agent" }).click();
    await page.getByText("You have imported this already").waitFor();
    await page.getByRole("button", { name: "Make another one" }).click();
    await page.waitForURL(/\/agents\/[0-9a-f-]+$/);
  });

  test("shows the skills that could not be installed, and leads to the agent", async () => {
    await using console = await openConsole(berth, ada);
    const { page } = console;
    await console.open("/agents?new=assistant");
    await chooseFile(page, workspace);
    await page.getByText("An OpenClaw workspace: Skipper").waitFor();
    await page.getByRole("button", { name: "Make the agent" }).click();
    await page.getByText("The skill can't be installed").waitFor();
    await page.getByRole("button", { name: "Open the agent" }).click();
    await page.getByRole("heading", { name: "Skipper", level: 1 }).waitFor();
    expect(console.complaints()).toEqual([]);
  });

  test("refuses another file in words", async () => {
    await using console = await openConsole(berth, ada);
    const { page } = console;
    await console.open("/agents?new=assistant");
    await chooseFile(page, { name: "a.png", mimeType: "image/png", buffer: Buffer.from("no picture") });
    await page.getByRole("alert").first().waitFor();
    expect(await page.getByRole("button", { name: "Make the agent" }).isDisabled()).toBe(true);
  });
});

test("the report reads well in both themes, languages and sizes", async () => {
  await expectAccessible(berth, ada, "/agents?new=assistant", {
    name: "import-report",
    prepare: async (page) => {
      await chooseFile(page, workspace);
      await page.getByText(/^(Not taken over|Nicht übernommen)$/).waitFor();
    },
  });
});
