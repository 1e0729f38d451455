// Web search and programs in Chromium: a search that needs a key gets one, and a program is shown as code with its output.

import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { type Berth, startBerth } from "../support/berth.ts";
import { member, provision } from "../support/members.ts";
import { startUpstream, type Upstream } from "../support/upstream.ts";
import { expectAccessible, openConsole } from "./support/console.ts";

let berth: Berth;
let upstream: Upstream;

beforeAll(async () => {
  upstream = await startUpstream();
  berth = await startBerth({ env: { PROVIDER_3_BASE_URL: upstream.url, MODEL_A: "provider_3:fake-small" } });
});
afterAll(async () => {
  await berth?.[Symbol.asyncDispose]();
  await upstream?.stop();
});

test("web search says what it needs until a key is set, which is never shown again", async () => {
  const ada = await member(berth);
  const agent = await provision(ada);
  await using console = await openConsole(berth, ada);
  const { page } = console;
  await console.open(`/agents/${agent.id}/skills`);
  const card = page.getByRole("article", { name: "Web search" });
  await card.getByText("Needs: a key of Brave Search or Tavily").waitFor();
  await card.getByRole("switch", { name: "Web search is off" }).click();
  const heading = page.getByRole("heading", { name: "Web search", level: 2 });
  const section = page.locator("section").filter({ has: heading });
  await section.getByText("0 of 100 searches today").waitFor();
  await page.reload();
  await card.getByText("Not usable yet.").waitFor();
  await expectAccessible(berth, ada, `/agents/${agent.id}/skills`, { name: "web-search" });
  await section.getByRole("button", { name: "Set a key for Tavily" }).click();
  await section.getByLabel("Key for Tavily").fill("tvly-canary");
  await section.getByRole("button", { name: "Save" }).click();
  await section.getByRole("button", { name: "Replace the key for Tavily" }).waitFor();
  await card.getByText("Not usable yet.").waitFor({ state: "detached" });
  await page.reload();
  await section.getByRole("button", { name: "Remove the key for Tavily" }).waitFor();
  expect(await page.content()).not.toContain("tvly-canary");
  expect(console.complaints()).toEqual([]);
});

test("a program is shown as code, with what it printed", async () => {
  const ada = await member(berth);
  const agent = await provision(ada);
  await ada.post("/api/agent", { action: "update-skill", agentId: agent.id, skillId: "run-code", enabled: true });
  const code = "const prices = [3, 4];\nreturn prices.reduce((sum, price) => sum + price);";
  upstream.script(({ toolResults }) =>
    toolResults.length > 0 ? "It is 7." : { toolCalls: [{ name: "run_code", arguments: { code } }] },
  );
  await using console = await openConsole(berth, ada);
  const { page } = console;
  await console.open(`/agents/${agent.id}/chat`);
  await page.getByRole("textbox", { name: /message/i }).fill("What do they cost together?");
  await page.keyboard.press("Enter");
  await page.getByRole("paragraph").getByText("It is 7.").waitFor();
  await page.getByText("Used 1 tool: Run a program").click();
  await page
    .getByRole("listitem")
    .getByText(/^(Run a program|Programm ausführen)$/)
    .click();
  const shown = page.getByRole("group", { name: "Code" });
  expect(await shown.textContent()).toBe(code);
  await page.getByText("Returned: 7").waitFor();
  const prepare = async (view: Page) => {
    await view.locator("details").first().locator("summary").first().click();
    await view
      .getByRole("listitem")
      .getByText(/^(Run a program|Programm ausführen)$/)
      .click();
  };
  await expectAccessible(berth, ada, new URL(page.url()).pathname, { name: "run-code", prepare });
  expect(console.complaints()).toEqual([]);
});
