// The webhooks in Chromium: made with a secret that is shown once, deliveries with what was answered, sent again.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Berth, startBerth } from "../support/berth.ts";
import type { Client } from "../support/client.ts";
import { type AgentItem, member, provision } from "../support/members.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import { expectAccessible, openConsole } from "./support/console.ts";

let receiver: Receiver;
let berth: Berth;
let ada: Client;
let agent: AgentItem;

beforeAll(async () => {
  receiver = startReceiver();
  berth = await startBerth({ env: { OUTBOUND_ALLOW: "127.0.0.1/32" } });
  ada = await member(berth);
  agent = await provision(ada);
});
afterAll(async () => {
  await berth?.[Symbol.asyncDispose]();
  await receiver?.[Symbol.asyncDispose]();
});

test("a webhook is made, its secret shown once, its deliveries listed and sent again, and it is removed", async () => {
  await using console = await openConsole(berth, ada);
  const { page } = console;
  await console.open("/webhooks");
  await page.getByText("No webhook yet").waitFor();
  await page.getByRole("button", { name: "New webhook" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Address").fill("http://10.0.0.1/inside");
  await dialog.getByLabel("What it is for").fill("<b>CRM</b>");
  await dialog.getByLabel("All, also those").uncheck();
  await dialog.getByLabel("Agents:").check();
  await dialog.getByRole("button", { name: "Make the webhook" }).click();
  // Addresses inside of the server's own network are refused.
  await dialog.getByRole("alert").waitFor();
  await dialog.getByLabel("Address").fill(`${receiver.url}/crm`);
  await dialog.getByRole("button", { name: "Make the webhook" }).click();
  const secret = await page.getByRole("group", { name: "Signing secret" }).textContent();
  expect(secret).toStartWith("whsec_");
  await page.getByRole("button", { name: "I have kept the secret" }).click();
  await page.getByRole("heading", { name: "<b>CRM</b>", level: 1 }).waitFor();
  expect(await page.content()).not.toContain(secret?.trim());

  receiver.answer((_, before) => (before === 0 ? 500 : 200));
  await ada.post(`/api/agents/${agent.id}/stop`, {});
  const deliveries = page.getByRole("list", { name: "Deliveries" });
  await deliveries.getByText("agent.status").waitFor();
  await deliveries.getByText("Arrived").waitFor();
  await deliveries.getByRole("button", { name: "Send again" }).first().click();
  await page.getByText("It is sent again.").waitFor();
  await receiver.take(3);

  await page.getByRole("button", { name: "Make a new secret" }).click();
  const next = await page.getByRole("group", { name: "Signing secret" }).textContent();
  expect(next).not.toBe(secret);
  await page.getByRole("button", { name: "I have kept the secret" }).click();
  await page.getByRole("switch").click();
  await page.getByRole("switch", { name: "Off" }).waitFor();
  await page.reload();
  await page.getByRole("switch", { name: "Off" }).waitFor();

  await page.getByRole("button", { name: "Remove the webhook" }).click();
  await page.getByText("No webhook yet").waitFor();
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByRole("link", { name: /CRM/ }).waitFor();
  expect((await ada.get("/api/webhooks")).body).toMatchObject({ count: 1 });
  expect(console.complaints()).toEqual([]);
});

test("somebody else's webhook does not exist", async () => {
  const { body } = await ada.get<{ webhooks: { id: string }[] }>("/api/webhooks");
  await using console = await openConsole(berth, await member(berth));
  await console.page.goto(`/webhooks/${body.webhooks[0]?.id}`);
  await console.page.getByRole("heading", { name: "This does not exist" }).waitFor();
});

test("the pages are accessible, also while one is made", async () => {
  const { body } = await ada.get<{ webhooks: { id: string }[] }>("/api/webhooks");
  await expectAccessible(berth, ada, `/webhooks/${body.webhooks[0]?.id}`, {
    name: "webhook",
    prepare: (page) => page.getByText("agent.status").first().waitFor(),
  });
  await expectAccessible(berth, ada, "/webhooks", {
    name: "webhooks-new",
    async prepare(page) {
      await page.locator("main header button").first().click();
      await page.getByRole("dialog").waitFor();
    },
  });
});
