// Slack by hand in Chromium, against a strict stand-in: the manifest, two tokens that are judged while they are typed, and the first answer.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { MANIFEST } from "../../channels/slack/manifest.ts";
import { type Berth, startBerth } from "../support/berth.ts";
import type { Client } from "../support/client.ts";
import { member, provision } from "../support/members.ts";
import { newAppId, type Slack, startSlack, tokensFor } from "../support/slack.ts";
import { openConsole } from "./support/console.ts";

let slack: Slack;
let berth: Berth;
let ada: Client;

beforeAll(async () => {
  slack = await startSlack();
  berth = await startBerth({ env: { CHANNEL_D_API_ROOT: slack.url, RATE_LIMITS: "off" } });
  ada = await member(berth, "enterprise");
});
afterAll(async () => {
  await berth?.[Symbol.asyncDispose]();
  await slack?.stop();
});

test("both tokens are judged while they are typed, each at its field; the bot answers its owner", async () => {
  const { id } = await provision(ada, "Harbour Master");
  const appId = newAppId();
  const tokens = tokensFor(appId);
  const app = slack.addApp(tokens, { username: "harbour_master" });
  await using console = await openConsole(berth, ada);
  const { page } = console;
  await console.open(`/agents/${id}/channels`);
  await page.getByRole("link", { name: "Connect Slack" }).click();
  const form = await page.getByRole("link", { name: "Slack's form for a new app" }).getAttribute("href");
  expect(new URL(form ?? "").searchParams.get("manifest_json")).toBe(MANIFEST);
  await page.getByRole("button", { name: "Copy the manifest" }).waitFor();
  const [bot, level] = [page.getByLabel("Bot User OAuth Token"), page.getByLabel("App-Level Token")];
  const connect = page.getByRole("button", { name: /^Connect/ });
  for (const [field, typed, verdict] of [
    [bot, tokens.botToken.slice(0, 9), "This is not the whole token yet."],
    [bot, tokens.appToken, "This belongs into the other field."],
    [bot, tokensFor(newAppId()).botToken, "It begins with xoxb-."],
    [level, tokens.appToken, "Slack does not know this token."],
    [bot, tokens.botToken, "Slack knows it"],
  ] as const) {
    await field.fill(typed);
    await page.getByText(verdict).waitFor();
  }
  expect(await connect.isEnabled()).toBe(true);
  await connect.click();
  await page.getByText("Answers in Slack").waitFor();
  const code = (await page.locator("main .font-mono", { hasText: /^[A-Z2-9]{10}$/ }).textContent()) ?? "";
  const dm = app.dm("U0ADA00001");
  app.userSays(dm, code.trim());
  await page.getByText("Owner", { exact: true }).waitFor();
  app.userSays(dm, "hello");
  await slack.waitFor(() => app.sent(dm).some(({ text }) => text.startsWith("Hello!")));
  slack.revoke(tokens.botToken);
  slack.revoke(tokens.appToken);
  await page.getByText("Slack does not accept this bot any more").waitFor();
  expect(console.complaints()).toEqual([]);
});
