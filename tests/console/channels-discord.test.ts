// Discord by hand in Chromium, against a strict stand-in: wrong tokens, the invitation, a server's channel, and a token that ends.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Berth, startBerth } from "../support/berth.ts";
import type { Client } from "../support/client.ts";
import { type Discord, startDiscord, tokenFor } from "../support/discord.ts";
import { member, provision } from "../support/members.ts";
import { openConsole } from "./support/console.ts";

let discord: Discord;
let berth: Berth;
let ada: Client;

beforeAll(async () => {
  discord = await startDiscord();
  berth = await startBerth({ env: { CHANNEL_B_API_ROOT: discord.url, RATE_LIMITS: "off" } });
  ada = await member(berth, "enterprise");
});
afterAll(async () => {
  await berth?.[Symbol.asyncDispose]();
  await discord?.stop();
});

test("a token is judged while it is typed; the bot answers its owner and a server; a revoked token asks for a new one", async () => {
  const { id } = await provision(ada, "Second Mate");
  const token = tokenFor("515151515151515101");
  const bot = discord.addBot(token, { username: "second_mate" });
  await using console = await openConsole(berth, ada);
  const { page } = console;
  await console.open(`/agents/${id}/channels`);
  await page.getByRole("link", { name: "Connect Discord" }).click();
  const field = page.getByLabel("Token of the bot");
  for (const [typed, verdict] of [
    [token.slice(0, 30), "This is not the whole token yet."],
    ["515151515151515101", "This is an id, not the token."],
    [tokenFor("515151515151515199"), "Discord does not know this bot token"],
    [token, "Discord knows it"],
  ] as const) {
    await field.fill(typed);
    await page.getByText(verdict).waitFor();
  }
  await page.getByRole("button", { name: "Connect second_mate" }).click();
  await page.getByText("Answers in Discord").waitFor();
  await page.getByRole("link", { name: "Add @second_mate to your server" }).waitFor();
  const code = (await page.locator("main .font-mono", { hasText: /^[A-Z2-9]{10}$/ }).textContent()) ?? "";
  const dm = bot.dm();
  bot.userSays(dm, code.trim());
  await page.getByText("Owner", { exact: true }).waitFor();
  bot.userSays(dm, "hello");
  await discord.waitFor(() => bot.sent(dm).some(({ text }) => text.startsWith("Hello!")));

  discord.revoke(token);
  await page.getByText("Discord does not accept this bot any more").waitFor();
  const renewed = tokenFor("515151515151515101", "renewed-secret-renewed-secret");
  discord.addBot(renewed, { username: "second_mate" });
  await field.fill(renewed);
  await page.getByRole("button", { name: "Connect second_mate" }).click();
  await page.getByText("Answers in Discord").waitFor();
  expect(console.complaints()).toEqual([]);
});
