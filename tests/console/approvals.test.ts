// The approvals in Chromium: what waits appears by itself, is shown as text, and is decided once.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Berth, startBerth } from "../support/berth.ts";
import type { Client } from "../support/client.ts";
import { member, provision } from "../support/members.ts";
import { startUpstream } from "../support/upstream.ts";
import { expectAccessible, openConsole } from "./support/console.ts";

const HOSTILE = `<img src="https://evil.example/x" onerror="document.title='owned'"> [x](javascript:alert(1)) \u202Egnp.exe`;

let outside: ReturnType<typeof Bun.serve>;
let upstream: Awaited<ReturnType<typeof startUpstream>>;
let berth: Berth;
let ada: Client;
let agentId: string;

beforeAll(async () => {
  outside = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response("Remind them.") });
  upstream = await startUpstream({ key: "sk-test" });
  // The agent reads a page, and then wants to set a reminder because of it.
  upstream.script(({ toolResults, lastUser }) => {
    const last = toolResults.at(-1)?.content ?? "";
    if (last.includes("was not run") || last.includes("inWords")) return "So be it.";
    if (last === "" && lastUser.startsWith("Read")) {
      return { toolCalls: [{ name: "web_fetch", arguments: { url: outside.url.href } }] };
    }
    return { toolCalls: [{ name: "remind_me", arguments: { text: `${lastUser} ${HOSTILE}`, inMinutes: 5 } }] };
  });
  berth = await startBerth({
    env: {
      PROVIDER_5_BASE_URL: upstream.url,
      PROVIDER_5_API_KEY: "sk-test",
      OUTBOUND_ALLOW: "127.0.0.1/32",
      AI_PLAN_BUDGETS_USD_PER_MONTH: "pro:500",
      AI_UNPAID_BUDGET_USD_PER_DAY: "500",
    },
  });
  ada = await member(berth);
  ({ id: agentId } = await provision(ada, "Harbour", { model: "provider_5:fake-small" }));
  await ada.patch(`/api/agents/${agentId}`, { model: "custom" });
});
afterAll(async () => {
  await berth?.[Symbol.asyncDispose]();
  await upstream?.[Symbol.asyncDispose]();
  await outside?.stop(true);
});

const ask = async (message: string) => {
  const { status, text } = await ada.post("/api/agent", { agentId, message });
  expect({ status, text }).toMatchObject({ status: 200 });
};

test("a call appears while the page is open, as text, and runs only after it was approved", async () => {
  await using console = await openConsole(berth, ada);
  const { page } = console;
  await console.open(`/agents/${agentId}/approvals`);
  await page.getByText("Nothing waits for you").waitFor();
  await ask("Read the news");
  const card = page.getByRole("article");
  await card.getByText(HOSTILE.slice(0, 40)).first().waitFor();
  expect(await card.locator("img, a, script").count()).toBe(0);
  // A text that would be written backwards shows that it would.
  await card.getByText("⟨U+202E⟩gnp.exe").first().waitFor();
  await card.getByText("inMinutes").waitFor();
  await card.getByRole("button", { name: "Approve once" }).click();
  await page.getByText("Nothing waits for you").waitFor();
  const { body } = await ada.get<{ approvals: { status: string }[] }>(`/api/agents/${agentId}/approvals`);
  expect(body.approvals).toMatchObject([{ status: "approved" }]);

  await page.getByText("Decided", { exact: true }).click();
  await page.getByText("and it ran").waitFor();
  expect(page.url()).toEndWith("?show=decided");
  await page.reload();
  await page.getByText("and it ran").waitFor();
  expect(await page.title()).not.toBe("owned");
  expect(console.complaints()).toEqual([]);
});

test("what was decided in another window says so", async () => {
  await ask("Read the tides");
  await using console = await openConsole(berth, ada);
  const { page } = console;
  await page.route("**/api/events", (route) => route.abort());
  await console.open("/approvals");
  await page.getByRole("link", { name: "Harbour", exact: true }).waitFor();
  const { body } = await ada.get<{ approvals: { id: string }[] }>("/api/approvals?status=pending");
  await ada.post(`/api/agents/${agentId}/approvals/${body.approvals[0]?.id}`, { decision: "deny" });
  await page.getByRole("button", { name: "Approve once" }).click();
  await page.getByText("This was decided in the meantime").waitFor();
  await page.getByText("Nothing waits for you").waitFor();
});

test("a server that is away says what to do, and the page goes on when it is back", async () => {
  await using console = await openConsole(berth, ada);
  const { page } = console;
  await page.route("**/api/approvals?*", (route) =>
    route.fulfill({
      status: 429,
      headers: { "retry-after": "1" },
      json: { error: "Too many requests.", code: "RATE_LIMITED" },
    }),
  );
  await console.open("/approvals");
  await page.getByRole("alert").getByText("Too many requests").waitFor();
  await page.unroute("**/api/approvals?*");
  await page.getByRole("button", { name: "Try again", exact: true }).click();
  await page.getByText("Nothing waits for you").waitFor();
});

test("somebody else's agent does not exist", async () => {
  await using console = await openConsole(berth, await member(berth));
  await console.page.goto(`/agents/${agentId}/approvals`);
  await console.page.getByRole("heading", { name: "This does not exist" }).waitFor();
});

test("the lists are accessible in both themes and sizes", async () => {
  await ask("Read the harbour's rules");
  await expectAccessible(berth, ada, "/approvals", {
    name: "approvals",
    prepare: (page) => page.getByRole("article").waitFor(),
  });
  await expectAccessible(berth, ada, `/agents/${agentId}/approvals?show=decided`, {
    name: "agent-approvals-decided",
    prepare: (page) => page.getByText("remind_me").first().waitFor(),
  });
});
