// What an agent has of its account and shows to others: its part of the wallet, the webhooks that hear of it, its A2A card.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Berth, startBerth } from "../support/berth.ts";
import type { Client } from "../support/client.ts";
import { member, provision } from "../support/members.ts";
import { expectAccessible, openConsole } from "./support/console.ts";

const NOWHERE = "http://127.0.0.1:9";

let berth: Berth;
let ada: Client;
let id: string;
beforeAll(async () => {
  berth = await startBerth({ env: { RATE_LIMITS: "off", TESTNET_RPC_URL: NOWHERE, MAINNET_RPC_URL: NOWHERE } });
  ada = await member(berth, "enterprise");
  ({ id } = await provision(ada, "Harbour"));
});
afterAll(() => berth?.[Symbol.asyncDispose]());

test("the wallet's page says whether the agent may spend, and within which limits", async () => {
  await using console = await openConsole(berth, ada);
  const { page } = console;
  await console.open(`/agents/${id}/wallet`);
  await page.getByText("Your account has no wallet yet").waitFor();
  await ada.post("/api/wallet", { action: "create" });
  await ada.put("/api/wallet/policy", { perTransaction: "7", approvalAbove: "3" });
  await page.reload();
  await page.getByText("It may not spend: its skill “Wallet” is off.").waitFor();
  const limits = page.locator("dl").filter({ hasText: "At most at once" });
  await limits.getByText("$7.00").waitFor();
  await limits.getByText("$3.00").waitFor();
  await limits.getByText("anybody").waitFor();
  await ada.post("/api/agent", { action: "update-skill", agentId: id, skillId: "wallet", enabled: true });
  await page.reload();
  await page.getByText("It may spend, within the limits below.").waitFor();
  await ada.put("/api/wallet/policy", { enabled: false });
  await page.reload();
  await page.getByText("All spending is stopped, for all your agents.").waitFor();
  await page.getByText("No payment yet").waitFor();
  await page.getByRole("main").getByRole("link", { name: "To your wallet" }).click();
  await page.getByRole("heading", { name: "Wallet", level: 1 }).waitFor();
  expect(console.complaints()).toEqual([]);
});

test("the webhooks' page lists those that hear of the agent, and makes one that does", async () => {
  await ada.post("/api/webhooks", { url: "https://example.com/me", types: ["user.*"], description: "Only me" });
  await using console = await openConsole(berth, ada);
  const { page } = console;
  await console.open(`/agents/${id}/webhooks`);
  await page.getByText("No program hears of Harbour yet").waitFor();
  await page.getByText("Others hear only of your account.").waitFor();
  expect(await page.getByText("Only me").count()).toBe(0);
  await page.getByRole("button", { name: "New webhook" }).click();
  await page.getByRole("dialog").getByLabel("Address").fill("https://example.com/harbour");
  await page.getByRole("button", { name: "Make the webhook" }).click();
  await page.getByRole("button", { name: "I have kept the secret" }).waitFor();
  const { webhooks } = (await ada.get<{ webhooks: { url: string; types: string[] }[] }>("/api/webhooks")).body;
  const made = webhooks.find(({ url }) => url.endsWith("/harbour"));
  expect(made?.types).toContain("agent.*");
  expect(made?.types).not.toContain("user.*");
  await console.open(`/agents/${id}/webhooks`);
  await page.getByText("https://example.com/harbour").waitFor();
  expect(console.complaints()).toEqual([]);
});

test("the public page's card for agents of others is where it is shown", async () => {
  await using console = await openConsole(berth, ada);
  const { page } = console;
  await console.open(`/agents/${id}/public`);
  await page.getByText("As soon as visitors may talk to it").waitFor();
  await page.getByRole("switch", { name: "Visitors may talk to it" }).click();
  const section = page.locator("section").filter({ has: page.getByRole("heading", { name: "For agents of others" }) });
  const shown = section.locator("dd .font-mono");
  await shown.first().waitFor();
  const [card = "", address = ""] = await shown.allTextContents();
  const answer = await fetch(new URL(new URL(card).pathname, berth.web));
  expect(answer.status).toBe(200);
  const { name, supportedInterfaces, url } = (await answer.json()) as Record<string, unknown>;
  expect(name).toBe("Harbour");
  expect(JSON.stringify([supportedInterfaces, url])).toContain(`"${address}"`);
  await section.getByRole("button", { name: "Copy the address of the card" }).waitFor();
  expect(console.complaints()).toEqual([]);
});

test("the pages are accessible", async () => {
  for (const path of ["wallet", "webhooks", "public", "wallet"]) {
    await expectAccessible(berth, ada, `/agents/${id}/${path}`, {
      name: `agent-${path}`,
      prepare: (page) => page.locator("main .skeleton").first().waitFor({ state: "detached" }),
    });
  }
});
