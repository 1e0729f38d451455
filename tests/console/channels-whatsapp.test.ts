// WhatsApp connected by hand in Chromium: from the guide over Meta's verification to the first answer, and a token that ends.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Berth, startBerth } from "../support/berth.ts";
import type { Client } from "../support/client.ts";
import { type HttpsProxy, startHttpsProxy } from "../support/https-proxy.ts";
import { member, provision } from "../support/members.ts";
import { startWhatsApp, type WhatsApp } from "../support/whatsapp.ts";
import { expectAccessible, openConsole } from "./support/console.ts";
import { scanQr } from "./support/qr.ts";

const ADA = "15550001111";
const tokenOf = (n: number) => `EAA${String(n).padStart(60, "k")}`;
const account = { numbers: [{ id: "106540352242922", display: "+1 555-000-9999" }] };

let whatsapp: WhatsApp;
let proxy: HttpsProxy;
/** Whether Meta can reach the service. */
let isReachable = true;
let berth: Berth;
let ada: Client;

beforeAll(async () => {
  // Meta accepts https only. It does not check this certificate, since it posts past the proxy.
  proxy = await startHttpsProxy();
  const webhookAddress = (url: string) => url.replace(proxy.origin, isReachable ? berth.web : "http://127.0.0.1:9");
  whatsapp = await startWhatsApp({ webhookAddress, https: true, webhookRetryMs: 20 });
  berth = await startBerth({
    env: {
      BASE_URL: proxy.origin,
      TRUSTED_PROXIES: "127.0.0.1",
      CHANNEL_C_API_ROOT: whatsapp.url,
      RATE_LIMITS: "off",
    },
  });
  proxy.pointTo(berth.web);
  ada = await member(berth, "enterprise");
});
afterAll(async () => {
  await proxy?.[Symbol.asyncDispose]();
  await berth?.[Symbol.asyncDispose]();
  await whatsapp?.stop();
});

/** What Meta's form does with the callback URL and the verify token that people enter there. */
async function verifyAtMeta(url: string, token: string) {
  const query = new URLSearchParams({
    "hub.mode": "subscribe",
    "hub.challenge": "1158201444",
    "hub.verify_token": token,
  });
  const response = await fetch(`${url.replace(proxy.origin, berth.web)}?${query}`);
  return { status: response.status, text: await response.text() };
}

test("a business gets from the guide to an answer, and the token is judged while it is typed", async () => {
  const { id } = await provision(ada, "Purser");
  await using console = await openConsole({ web: proxy.origin }, ada);
  const { page } = console;
  await console.open(`/agents/${id}/channels`);
  await page.getByRole("link", { name: "Connect WhatsApp" }).click();
  const [url = "", verifyToken = ""] = await page
    .getByRole("listitem")
    .filter({ hasText: "callback URL" })
    .locator(".font-mono")
    .allInnerTexts();
  expect(url.trim()).toBe(`${proxy.origin}/hooks/channel_c`);
  expect(await verifyAtMeta(url.trim(), verifyToken.trim())).toEqual({ status: 200, text: "1158201444" });
  expect(await verifyAtMeta(url.trim(), "another")).toMatchObject({ status: 401 });
  expect(await verifyAtMeta(`${proxy.origin}/hooks/channel_a`, verifyToken.trim())).toMatchObject({ status: 404 });

  const field = page.getByLabel("Token of the bot");
  whatsapp.addAccount(tokenOf(1), { waba: "301", scopes: ["whatsapp_business_management"] });
  const bot = whatsapp.addAccount(tokenOf(2), { waba: "302", ...account });
  for (const [typed, verdict] of [
    ["EAAbc", "This is not the whole token yet."],
    ["15550001111", "This is an id, not the token."],
    ["EAB", "This does not begin like a token of WhatsApp."],
    [tokenOf(99), "WhatsApp does not take this access token"],
    [tokenOf(1), "This access token lacks whatsapp_business_messaging."],
    [tokenOf(2), "WhatsApp knows it"],
  ] as const) {
    await field.fill(typed);
    await page.getByText(verdict).waitFor();
  }
  await page.getByText("+15550009999").waitFor();
  await page.getByRole("button", { name: "Connect A business" }).click();
  await page.getByText("Answers in WhatsApp").waitFor();
  expect(bot.subscriptions).toEqual([
    { app: "9001", callback: expect.stringContaining(`${proxy.origin}/hooks/channel_c/`) },
  ]);

  const link = new URL((await page.getByRole("link", { name: /in WhatsApp$/ }).getAttribute("href")) ?? "");
  expect(link.origin + link.pathname).toBe("https://wa.me/15550009999");
  expect(await scanQr(page.getByRole("img", { name: "The address of the bot, for your phone" }))).toBe(link.href);
  bot.says(link.searchParams.get("text") ?? "", { name: "Ada" });
  await page.getByText("Owner", { exact: true }).waitFor();
  bot.says("hello", { name: "Ada" });
  await whatsapp.waitFor(() => bot.sent(ADA).some(({ text }) => text.startsWith("Hello!")));
  expect(await page.content()).not.toContain(tokenOf(2));
  expect(console.complaints()).toEqual([]);
});

test("an address that Meta can't reach is named, and tried at once on request; a revoked token asks for a new one", async () => {
  const { id } = await provision(ada, "Bosun", { channels: { channel_c: { access: "open" } } });
  const bot = whatsapp.addAccount(tokenOf(3), { waba: "303", ...account });
  await using console = await openConsole({ web: proxy.origin }, ada);
  const { page } = console;
  await console.open(`/agents/${id}/channels/channel_c`);
  isReachable = false;
  await page.getByLabel("Token of the bot").fill(tokenOf(3));
  await page.getByRole("button", { name: "Connect A business" }).click();
  await page.getByText("Waits for WhatsApp").waitFor();
  await page.getByText("Meta could not prove the address of this agent", { exact: false }).waitFor();
  await page.getByText(/Next try in \d+ s|Trying again/).waitFor();
  isReachable = true;
  await page.getByRole("button", { name: "Try now" }).click();
  await page.getByText("Answers in WhatsApp").waitFor();

  whatsapp.revoke(tokenOf(3));
  bot.says("still there?");
  await page.getByText("WhatsApp does not accept this bot any more").waitFor();
  await page.getByText("WhatsApp does not take this access token (any more).", { exact: false }).waitFor();
  const renewed = whatsapp.addAccount(tokenOf(4), { waba: "303", ...account });
  await page.getByLabel("Token of the bot").fill(tokenOf(4));
  await page.getByRole("button", { name: "Connect A business" }).click();
  await page.getByText("Answers in WhatsApp").waitFor();
  renewed.says("and now?");
  await whatsapp.waitFor(() => renewed.sent(ADA).length > 0);
  expect(console.complaints()).toEqual([]);
});

test("the page of a connected number is accessible", async () => {
  const { id } = await provision(ada, "Cook");
  whatsapp.addAccount(tokenOf(5), { waba: "305", ...account });
  await ada.put(`/api/agents/${id}/channels/channel_c`, { token: tokenOf(5) });
  for (const [name, agent] of [
    ["whatsapp-hello", id],
    ["whatsapp-guide", (await provision(ada, "Purser")).id],
  ] as const) {
    await expectAccessible({ web: proxy.origin }, ada, `/agents/${agent}/channels/channel_c`, {
      name,
      prepare: (page) => page.locator("main h2").first().waitFor(),
    });
  }
});
