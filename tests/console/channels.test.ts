// Connecting a bot in Chromium, as somebody who never did it: from the guide to the first answer, and what goes wrong.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { type Berth, startBerth } from "../support/berth.ts";
import type { Client } from "../support/client.ts";
import { type Discord, startDiscord, tokenFor } from "../support/discord.ts";
import { eventually } from "../support/eventually.ts";
import { member, provision } from "../support/members.ts";
import { type FakeBot, startTelegram, type Telegram } from "../support/telegram.ts";
import { expectAccessible, openConsole } from "./support/console.ts";

const HOSTILE = '<img src=x onerror=alert(1)>\u202e"><script>alert(1)</script> [x](javascript:alert(1))';

let telegram: Telegram;
let discord: Discord;
let berth: Berth;
let ada: Client;
let next = 500_000;

beforeAll(async () => {
  telegram = await startTelegram();
  discord = await startDiscord();
  berth = await startBerth({
    env: { CHANNEL_A_API_ROOT: telegram.url, CHANNEL_A_MODE: "polling", CHANNEL_B_API_ROOT: discord.url },
  });
  ada = await member(berth, "enterprise");
});
afterAll(async () => {
  await berth?.[Symbol.asyncDispose]();
  await discord?.stop();
  await telegram?.stop();
});

function aBot(username = `harbour_${next + 1}_bot`): { bot: FakeBot; token: string } {
  const token = `${++next}:${"telegram-test-token-of-a-bot".padEnd(35, "x")}`;
  return { bot: telegram.addBot(token, { username }), token };
}

async function connectedAgent(config: object = {}, ownerId?: number) {
  const { id } = await provision(ada, "Harbour", config);
  const made = aBot();
  const path = `/api/agents/${id}/channels/channel_a`;
  const { status, text } = await ada.put(path, { token: made.token, ...(ownerId === undefined ? {} : { ownerId }) });
  if (status !== 200) throw new Error(`connect: ${status} ${text}`);
  return { id, ...made, page: `/agents/${id}/channels/channel_a` };
}

describe("a newcomer", () => {
  test("gets from the overview to an answer in Telegram by three clicks and one paste", async () => {
    const { id } = await provision(ada, "First Mate");
    const { bot, token } = aBot("first_mate_bot");
    await using console = await openConsole(berth, ada);
    const { page } = console;
    let clicks = 0;
    const click = async (role: "link" | "button", name: string | RegExp) => {
      await page.getByRole(role, { name }).click();
      clicks += 1;
    };
    await console.open(`/agents/${id}/channels`);
    await click("link", "Connect Telegram");
    const field = page.getByLabel("Token of the bot");
    await field.fill(token.slice(0, 20));
    await page.getByText("This is not the whole token yet.").waitFor();
    await field.fill(token);
    await page.getByText("Telegram knows it").waitFor();
    await click("button", "Connect first_mate_bot");
    const open = page.getByRole("link", { name: "Open @first_mate_bot in Telegram" });
    await open.waitFor();
    await console.shoot("channels-say-hello");
    const link = new URL((await open.getAttribute("href")) ?? "");
    expect(link.origin + link.pathname).toBe("https://t.me/first_mate_bot");
    // What Telegram sends when the person presses Start there.
    clicks += 1;
    bot.userSays(42, `/start ${link.searchParams.get("start")}`);
    await page.getByText("Owner", { exact: true }).waitFor();
    await page.getByText("Answers in Telegram").waitFor();
    bot.userSays(42, "hello");
    await telegram.waitFor(() => bot.sent(42).some(({ text }) => text.includes("Hello")));
    expect(clicks).toBeLessThanOrEqual(3);
    await page.reload();
    await page.getByRole("heading", { name: "Write to it now" }).waitFor();
    expect(await page.content()).not.toContain(token);
    expect(console.complaints()).toEqual([]);
  });

  test("adds a bot of Discord to a server, and shows it who they are by a code", async () => {
    const { id } = await provision(ada, "Second Mate");
    const token = tokenFor("515151515151515001");
    const bot = discord.addBot(token, { username: "second_mate" });
    await using console = await openConsole(berth, ada);
    const { page } = console;
    await console.open(`/agents/${id}/channels/channel_b`);
    await page.getByLabel("Token of the bot").fill("515151515151515001");
    await page.getByText("This is an id, not the token.").waitFor();
    await page.getByLabel("Token of the bot").fill(token);
    await page.getByRole("button", { name: "Connect second_mate" }).click();
    const invite = page.getByRole("link", { name: "Add @second_mate to your server" });
    const { searchParams } = new URL((await invite.getAttribute("href")) ?? "");
    expect(searchParams.get("client_id")).toBe(bot.id);
    expect(searchParams.get("scope")).toBe("bot applications.commands");
    const code = (await page.locator("main .font-mono", { hasText: /^[A-Z2-9]{10}$/ }).textContent()) ?? "";
    const dm = bot.dm();
    bot.userSays(dm, ` ${code.trim().toLowerCase()} `);
    await page.getByText("Owner", { exact: true }).waitFor();
    bot.userSays(dm, "hello");
    await discord.waitFor(() => bot.sent(dm).some(({ text }) => text.includes("Hello")));
    expect(console.complaints()).toEqual([]);
  });

  test("is told what is wrong: not a token, a bot of another agent, a platform that is down", async () => {
    const other = await connectedAgent();
    const { id } = await provision(ada, "Second");
    const { bot, token } = aBot();
    await using console = await openConsole(berth, ada);
    const { page } = console;
    await console.open(`/agents/${id}/channels/channel_a`);
    const field = page.getByLabel("Token of the bot");
    await field.fill("my bot");
    await page.getByText("A token has no spaces.").waitFor();
    await field.fill(other.token);
    await page.getByRole("link", { name: "Harbour" }).waitFor();
    expect(await page.getByRole("button", { name: /^Connect/ }).isDisabled()).toBe(true);
    await field.fill(`99:${"n".repeat(35)}`);
    await page.getByText("Telegram does not know this bot token").waitFor();
    telegram.fail("getMe", { status: 502 }, { botId: bot.id });
    await field.fill(token);
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByText("Telegram knows it").waitFor();
    expect(console.complaints()).toEqual([]);
  });
});

describe("a connected bot", () => {
  test("people who ask appear by themselves, are let in, refused and removed, each with undo", async () => {
    const { bot, page: path, id } = await connectedAgent({}, undefined);
    await using console = await openConsole(berth, ada);
    const { page } = console;
    await console.open(path);
    bot.userSays(61, "hello", { from: { id: 61, first_name: HOSTILE } });
    await page.getByText("asks to talk").waitFor();
    expect(await page.locator("main img, main script").count()).toBe(0);
    await page.getByRole("button", { name: "Let them talk" }).click();
    await page.getByText("May talk", { exact: true }).waitFor();
    await page.getByRole("button", { name: /^Remove / }).click();
    await page.getByText("May talk", { exact: true }).waitFor({ state: "detached" });
    await page.getByText(/ is removed$/).waitFor();
    await page.getByRole("button", { name: "Undo" }).last().click();
    await page.getByText("May talk", { exact: true }).waitFor();
    bot.userSays(62, "me too");
    await page.getByText("asks to talk").waitFor();
    await page.getByRole("button", { name: "Refuse" }).click();
    await page.getByText("Refused", { exact: true }).waitFor();
    bot.userSays(63, "it is me");
    await page.getByRole("button", { name: "This is me" }).click();
    await page.getByText("Owner", { exact: true }).waitFor();
    const { body } = await ada.get<{ access: string; owner: string }>(`/api/agents/${id}/channels/channel_a/access`);
    expect(body).toMatchObject({ access: "owner", owner: "63" });
    expect(console.complaints()).toEqual([]);
  });

  test("a code from the chat is typed in, and ids are added where the rule has a list", async () => {
    const { bot, page: path, id } = await connectedAgent();
    await using console = await openConsole(berth, ada);
    const { page } = console;
    await console.open(path);
    bot.userSays(71, "hello");
    await telegram.waitFor(() => bot.sent(71).length === 1);
    const code = /[A-HJ-NP-Z2-9]{6}/.exec(bot.sent(71)[0]?.text.replace(/^.*code: /, "") ?? "")?.[0] ?? "";
    await page.getByText("asks to talk").waitFor();
    await page.getByLabel("Code or id").fill(code.toLowerCase());
    await page.getByRole("button", { name: "Add", exact: true }).click();
    await page.getByText("May talk", { exact: true }).waitFor();
    await page.getByLabel("Owners, and people on my list").click();
    await page.getByText("Saved").first().waitFor();
    await page.getByText("Add somebody by a code or an id").click();
    await page.getByLabel("Code or id").fill("@ada");
    await page.getByRole("button", { name: "Add", exact: true }).click();
    await page.getByText("This is your numeric id").waitFor();
    await page.getByLabel("Code or id").fill("77");
    await page.getByRole("button", { name: "Add", exact: true }).click();
    await page.getByText("77", { exact: true }).waitFor();
    await page.getByLabel("In groups it answers").selectOption("off");
    await page.getByText("Saved").first().waitFor();
    const access = async () => (await ada.get<{ groups: string }>(`/api/agents/${id}/channels/channel_a/access`)).body;
    // What was saved before it may still be told.
    await eventually(async () => (await access()).groups === "off");
    expect(await access()).toMatchObject({ access: "allowlist", allow: ["77"] });
    await page.reload();
    expect(await page.getByLabel("Owners, and people on my list").isChecked()).toBe(true);
    expect(console.complaints()).toEqual([]);
  });

  test("says why it is down, counts down, and comes back; a refused one asks for a new token", async () => {
    const { bot, token, page: path } = await connectedAgent({}, 42);
    await using console = await openConsole(berth, ada);
    const { page } = console;
    await console.open(path);
    await page.getByText("Answers in Telegram").waitFor();
    telegram.fail("getUpdates", { status: 500 }, { botId: bot.id, times: 4 });
    bot.userSays(42, "wake the long poll");
    await page.getByText("Waits for Telegram").waitFor();
    await page.getByText(/Next try in|Trying again/).waitFor();
    await page.getByText("Answers in Telegram").waitFor();
    telegram.revoke(token);
    bot.userSays(42, "again");
    await page.getByText("Telegram does not accept this bot any more").waitFor();
    await page.getByLabel("Token of the bot").fill(aBot().token);
    await page.getByRole("button", { name: /^Connect harbour_/ }).click();
    await page.getByText("Answers in Telegram").waitFor();
    expect(console.complaints()).toEqual([]);
  });

  test("is disconnected, unless that is undone", async () => {
    const { page: path, id } = await connectedAgent({}, 42);
    await using console = await openConsole(berth, ada);
    const { page } = console;
    await console.open(path);
    await page.getByRole("button", { name: "Disconnect Telegram" }).click();
    await page.getByRole("link", { name: "Connect Telegram" }).waitFor();
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByRole("link", { name: "People and settings" }).click();
    await page.getByRole("button", { name: "Disconnect Telegram" }).click();
    await page.getByRole("button", { name: "Close" }).click();
    await page.getByRole("link", { name: "Connect Telegram" }).waitFor();
    await page.reload();
    await page.getByRole("link", { name: "Connect Telegram" }).waitFor();
    expect((await ada.get<{ count: number }>(`/api/agents/${id}/channels`)).body.count).toBe(0);
  });

  test("belongs to its owner alone; a lost connection says so", async () => {
    const { page: path } = await connectedAgent();
    await using foreign = await openConsole(berth, await member(berth));
    await foreign.open(path);
    await foreign.page.getByRole("heading", { name: "This does not exist" }).waitFor();
    await using console = await openConsole(berth, ada);
    await console.open(path);
    await console.page.getByText("Answers in Telegram").waitFor();
    await console.page.getByLabel("Everybody").waitFor();
    await console.context.setOffline(true);
    await console.page.getByLabel("Everybody").click();
    await console.page.getByText("Berth can't be reached.").first().waitFor();
    expect(await console.page.getByLabel("Owners, and people I let in").isChecked()).toBe(true);
  });
});

describe("what the API refuses", () => {
  const refuse = (status: number, code: string, headers: Record<string, string> = {}) => ({
    status,
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify({ error: `refused with ${code}`, message: "", code }),
  });

  test("is said where it happened: too many tokens, a bot taken meanwhile, an agent that is being updated", async () => {
    const { id } = await provision(ada, "Refused");
    await using console = await openConsole(berth, ada);
    const { page } = console;
    await console.open(`/agents/${id}/channels/channel_a`);
    await page.route("**/check", (route) => route.fulfill(refuse(429, "RATE_LIMITED", { "retry-after": "2" })), {
      times: 1,
    });
    await page.getByLabel("Token of the bot").fill(aBot().token);
    await page.getByRole("button", { name: /Try again in \d s/ }).waitFor();
    await page.getByRole("button", { name: "Try again", exact: true }).click();
    await page.getByText("Telegram knows it").waitFor();
    for (const [status, code] of [
      [409, "CHANNEL_IN_USE"],
      [409, "OPERATION_IN_PROGRESS"],
      [503, "STOPPING"],
    ] as const) {
      await page.route("**/channels/channel_a", (route) => route.fulfill(refuse(status, code)), { times: 1 });
      await page.getByRole("button", { name: /^Connect harbour_/ }).click();
      await page.getByText(`refused with ${code}`).waitFor();
    }
    await page.getByRole("button", { name: /^Connect harbour_/ }).click();
    await page.getByText("Answers in Telegram").waitFor();
    await page.route("**/access", (route) => route.fulfill(refuse(503, "STOPPING")), { times: 1 });
    await page.reload();
    await page.getByText("Answers in Telegram").waitFor();
    expect(console.complaints()).toEqual([]);
  });

  test("a second tab shows what the first one did", async () => {
    const { page: path } = await connectedAgent({}, 42);
    await using first = await openConsole(berth, ada);
    await first.open(path);
    const second = await first.context.newPage();
    await second.goto(path);
    await second.getByText("Answers in Telegram").waitFor();
    await first.page.getByRole("button", { name: "Remove 42" }).click();
    await first.page.getByText("Last step: say hello").waitFor();
    await second.getByText("Last step: say hello").waitFor();
    await ada.put(`${path.replace("/agents/", "/api/agents/")}/access`, { access: "open" });
    await second
      .getByRole("radio", { name: /^Everybody/ })
      .and(second.locator(":checked"))
      .waitFor({ state: "attached" });
  });
});

/** Waits until the page has its data. */
const loaded = (page: Page) => page.locator("main h2").first().waitFor();

test("the pages are accessible in both themes, sizes and languages", async () => {
  const empty = await provision(ada, "Empty");
  await expectAccessible(berth, ada, `/agents/${empty.id}/channels`, { name: "channels", prepare: loaded });
  for (const channel of ["channel_a", "channel_b", "channel_c", "channel_d"]) {
    await expectAccessible(berth, ada, `/agents/${empty.id}/channels/${channel}`, {
      name: `channels-guide-${channel}`,
      async prepare(page) {
        await loaded(page);
        if (channel !== "channel_a") return;
        await page.locator("input.font-mono").fill(aBot().token);
        await page.locator(".bg-good-wash").waitFor();
      },
    });
  }
  const { bot, page: path } = await connectedAgent();
  await expectAccessible(berth, ada, path, {
    name: "channels-hello",
    prepare: async (page) => {
      await loaded(page);
      await page.getByRole("img").first().waitFor();
    },
  });
  await ada.put(`/api${path}/access`, { owner: 42, owners: [43], access: "pairing" });
  bot.userSays(44, "hello", { from: { id: 44, first_name: "Grace Hopper" } });
  bot.userSays(45, "hi", { from: { id: 45, first_name: "Edsger" } });
  await telegram.waitFor(() => bot.sent(45).length > 0);
  await ada.put(`/api${path}/pairings/45`, { status: "approved" });
  await expectAccessible(berth, ada, path, {
    name: "channels-people",
    prepare: async (page) => {
      await loaded(page);
      await page.getByText("Grace Hopper").waitFor();
    },
  });
});
