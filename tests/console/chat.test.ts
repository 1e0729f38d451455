// The chat page in Chromium: writing, streaming, resuming, tools, approvals, files, voice, other channels, hostile texts.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { type Berth, startBerth } from "../support/berth.ts";
import type { Client } from "../support/client.ts";
import { eventually } from "../support/eventually.ts";
import { member, provision } from "../support/members.ts";
import { startUpstream, type Upstream } from "../support/upstream.ts";
import { skillMd, zipOf } from "../support/zips.ts";
import { expectAccessible, openConsole } from "./support/console.ts";
import { storeConversation } from "./support/conversations.ts";
import { HOSTILE_TEXTS } from "./support/hostile.ts";

let upstream: Upstream;
let outside: ReturnType<typeof Bun.serve>;
let berth: Berth;
let ada: Client;
let agentId: string;
beforeAll(async () => {
  upstream = await startUpstream();
  outside = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response("Remind them of the storm.") });
  berth = await startBerth({
    env: {
      PROVIDER_5_BASE_URL: upstream.url,
      PROVIDER_5_API_KEY: "sk-test",
      MODEL_A: "provider_5:fake-small",
      // The prices of its models are not known, so that they count as dear ones.
      AI_PLAN_BUDGETS_USD_PER_MONTH: "enterprise:500",
      AI_UNPAID_BUDGET_USD_PER_DAY: "500",
      OUTBOUND_ALLOW: "127.0.0.1/32",
      RATE_LIMITS: "off",
    },
  });
  ada = await member(berth, "enterprise");
});
beforeEach(async () => {
  upstream.reset();
  agentId = (await provision(ada, "Harbour")).id;
});
afterAll(async () => {
  await berth?.[Symbol.asyncDispose]();
  await outside?.stop(true);
  await upstream?.stop();
});

const chat = (rest = "") => `/agents/${agentId}/chat${rest}`;
const field = (page: Page) => page.getByRole("textbox", { name: /Message to|Nachricht an/ });
const feed = (page: Page) =>
  page
    .getByRole("region", { name: /^(?:Conversation|Gespräch)$/ })
    .getByRole("region", { name: /^(?:Messages of|Nachrichten dieses)/ });
const say = async (page: Page, text: string) => {
  await field(page).fill(text);
  await field(page).press("Enter");
};

/** A conversation with one message and its reply. */
async function talked(message = "Ahoy"): Promise<string> {
  const { body } = await ada.post<{ turnId: string; conversationId: string }>(`/api/agents/${agentId}/conversations`, {
    message,
  });
  await Array.fromAsync(ada.sse(`/api/agents/${agentId}/turns/${body.turnId}/events`));
  return body.conversationId;
}

describe("writing to an agent", () => {
  test("streams the reply with its tools; the turn behind it, the list and a reload show the same", async () => {
    await using console = await openConsole(berth, ada);
    const { page } = console;
    let go: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => {
      go = resolve;
    });
    upstream.script(async ({ toolResults }) => {
      if (toolResults.length === 0) return { toolCalls: [{ name: "remember", arguments: { fact: "Likes tables." } }] };
      await gate;
      return "It is **deep**:\n\n| Quay | Metres |\n|---|---|\n| North | 8.4 |\n\n```ts\nconst depth = 8.4;\n```";
    });
    await console.open(chat("/new"));
    await page.locator("textarea:focus").waitFor();
    await say(page, "How deep is it?");
    await page.waitForURL(/\/chat\/sess_/);
    await page.getByText("Used 1 tool: Remember a fact").waitFor();
    // A reload in the middle loses nothing.
    await page.reload();
    await page.getByText("Used 1 tool: Remember a fact").waitFor();
    await page.getByText(/Thinks|Writes/).waitFor();
    go();
    await feed(page).getByRole("cell", { name: "8.4" }).waitFor();
    await page.getByText("fake-small ·").waitFor();
    expect(await feed(page).locator("strong").textContent()).toBe("deep");
    await page.getByText("Used 1 tool: Remember a fact").click();
    await feed(page)
      .locator("summary", { hasText: /^Remember a fact/ })
      .click();
    await feed(page).getByRole("group", { name: "Input" }).getByText("Likes tables.").waitFor();

    await page.getByRole("button", { name: /tokens · .* · 1 step$/ }).click();
    const panel = page.getByRole("dialog", { name: "The turn behind this reply" });
    await panel.getByText("Remember a fact", { exact: true }).waitFor();
    expect(page.url()).toContain("turn=");
    await page.keyboard.press("Escape");
    await panel.waitFor({ state: "detached" });

    const row = page.getByRole("navigation", { name: "Conversations" }).getByRole("link", { name: /How deep is it/ });
    expect(await row.getAttribute("aria-current")).toBe("page");
    await page.getByRole("link", { name: "New conversation" }).click();
    await page.getByText("Talk to Harbour").waitFor();
    await page.goBack();
    await feed(page).getByRole("cell", { name: "8.4" }).waitFor();
    expect(console.complaints()).toEqual([]);
  });

  test("shows what a delegated task has used below it, in the chat and in the turn, by keyboard", async () => {
    agentId = (await provision(ada, "Harbour", { skills: { delegate: true } })).id;
    await using console = await openConsole(berth, ada);
    const { page } = console;
    upstream.script(({ messages, toolResults, lastUser }) => {
      if (toolResults.length > 0) return "Joined.";
      return String(messages[0]?.content).includes("one part of a larger task")
        ? { toolCalls: [{ name: "recall", arguments: { query: lastUser } }] }
        : { toolCalls: [{ name: "delegate", arguments: { tasks: ["North quay", "South quay"] } }] };
    });
    await console.open(chat("/new"));
    await say(page, "Compare the quays.");
    await page.getByText("fake-small ·").waitFor();
    // The step counts once: what it has used is within it.
    const steps = feed(page).locator("summary", { hasText: /^Used 1 tool: / });
    await steps.press("Enter");
    await feed(page)
      .locator("summary", { hasText: /^Split the task/ })
      .press("Enter");
    const within = feed(page).getByRole("list", { name: "Tools that it used" });
    expect(await within.getByRole("listitem").count()).toBe(2);
    await within.locator("summary").first().press("Enter");
    await within.getByRole("group", { name: "Input" }).getByText(/quay/).waitFor();
    expect(await console.violations()).toEqual([]);
    await console.shoot("delegated-chat");

    await page.getByRole("button", { name: /tokens · .* · 1 step$/ }).press("Enter");
    const panel = page.getByRole("dialog", { name: "The turn behind this reply" });
    await panel.locator("summary", { hasText: "6 steps within it" }).press("Enter");
    expect(await panel.getByRole("list", { name: "Steps", exact: true }).locator("> li").count()).toBe(3);
    const inPanel = panel.getByRole("list", { name: "Steps within it" });
    expect(await inPanel.locator("> li").count()).toBe(6);
    await inPanel.getByText("Part 2").waitFor();
    expect(await console.violations()).toEqual([]);
    await console.shoot("delegated-turn");
    expect(console.complaints()).toEqual([]);
  });

  test("Shift+Enter begins a line, the draft survives a reload, and the reply can be stopped and tried again", async () => {
    await using console = await openConsole(berth, ada);
    const { page } = console;
    await console.open(chat("/new"));
    await field(page).fill("one");
    await field(page).press("Shift+Enter");
    await field(page).pressSequentially("two");
    await page.reload();
    await field(page).waitFor();
    expect(await field(page).inputValue()).toBe("one\ntwo");
    upstream.script({ pieces: ["The quay is long, ", "and it is deep, ", "and more"], hangAfter: 3 });
    await page.getByRole("button", { name: "Send" }).click();
    await feed(page).getByText("The quay is long").waitFor();
    await page.getByRole("button", { name: "Stop the reply" }).click();
    await page.getByText("You stopped the reply.").waitFor();
    // What was written until then can still be read.
    await feed(page).getByText("The quay is long").waitFor();
    await page.getByText("Stopped here.").waitFor();
    await page.reload();
    await feed(page).getByText("The quay is long, and it is deep").waitFor();
    upstream.script("Back again.");
    await page.getByRole("button", { name: "Try again", exact: true }).click();
    await feed(page).getByText("Back again.").waitFor();
    expect(upstream.chats.at(-1)?.lastUser).toBe("one\ntwo");
    expect(console.complaints()).toEqual([]);
  });

  test("typing / offers commands and the skills that are on", async () => {
    const form = new FormData();
    const zip = zipOf({ "tea/SKILL.md": skillMd("tea", "Makes tea of any kind.", "Boil water.") });
    form.set("file", new File([zip], "tea.zip"));
    const headers = { cookie: ada.cookie };
    const installed = await fetch(`${berth.web}/api/skills`, { method: "POST", body: form, headers });
    expect(installed.status).toBe(201);
    await ada.post("/api/agent", { action: "update-skill", agentId, skillId: "folder:tea", enabled: true });
    await using console = await openConsole(berth, ada);
    const { page } = console;
    await console.open(chat("/new"));
    await field(page).fill("/");
    const options = page.getByRole("listbox", { name: "Commands and skills" }).getByRole("option");
    await options.filter({ hasText: "/tea" }).waitFor();
    expect(await options.count()).toBe(4);
    expect(await console.violations()).toEqual([]);
    await field(page).press("ArrowUp");
    expect(await options.last().getAttribute("aria-selected")).toBe("true");
    await field(page).press("Escape");
    await options.first().waitFor({ state: "detached" });
    await field(page).fill("/t");
    await options.filter({ hasText: "/tea" }).waitFor();
    await field(page).press("Enter");
    expect(await field(page).inputValue()).toBe("/tea ");
    upstream.script("Here it is.");
    await field(page).pressSequentially("green");
    await field(page).press("Enter");
    await feed(page).getByText("Here it is.").waitFor();
    expect(String(upstream.chats.at(-1)?.messages[0]?.content)).toContain("Boil water.");
    await ada.post("/api/agent", { action: "update-skill", agentId, skillId: "folder:tea", enabled: false });
    expect(console.complaints()).toEqual([]);
  });

  test("a lost connection loses nothing: the message is sent once, and the reply goes on where it was", async () => {
    await using console = await openConsole(berth, ada);
    const { page, context } = console;
    const id = await talked();
    await console.open(chat(`/${id}`));
    await field(page).waitFor();
    await context.setOffline(true);
    await say(page, "Are you there?");
    await page.getByText("Not sent yet.").waitFor();
    let go: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => {
      go = resolve;
    });
    upstream.script(async ({ toolResults }) => {
      if (toolResults.length === 0)
        return { text: "I look.", toolCalls: [{ name: "remember", arguments: { fact: "x" } }] };
      await gate;
      return "Yes, I am.";
    });
    await context.setOffline(false);
    await feed(page).getByText("I look.").waitFor();
    expect(await page.getByText("Not sent yet.").count()).toBe(0);
    await context.setOffline(true);
    go();
    await eventually(async () => {
      const { body } = await ada.get<{ turns: { status: string }[] }>(`/api/agents/${agentId}/turns?limit=1`);
      return body.turns[0]?.status === "done";
    });
    await context.setOffline(false);
    await feed(page).getByText("Yes, I am.").waitFor();
    expect(await feed(page).getByText("Are you there?").count()).toBe(1);
    expect(upstream.chats.filter(({ lastUser }) => lastUser === "Are you there?").length).toBe(2);
  });

  test("two tabs show the same while a reply is written", async () => {
    const id = await talked();
    await using console = await openConsole(berth, ada);
    await console.open(chat(`/${id}`));
    const second = await console.context.newPage();
    await second.goto(chat(`/${id}`));
    await feed(second).getByText("echo: Ahoy").waitFor();
    upstream.script({ pieces: ["Half ", "of it"], hangAfter: 2 });
    await say(console.page, "Tell both");
    for (const page of [console.page, second]) {
      await feed(page).getByText("Tell both").waitFor();
      await feed(page).getByText("Half").waitFor();
    }
    await second.getByRole("button", { name: "Stop the reply" }).click();
    for (const page of [console.page, second]) await page.getByText("You stopped the reply.").waitFor();
  });

  test("errors say what to do: a spent budget, a stopped agent, too much at once, unknown conversations", async () => {
    await using console = await openConsole(berth, ada);
    const { page } = console;
    await ada.put(`/api/agents/${agentId}/config`, { budget: { usdPerDay: 0.000001 } });
    await console.open(chat("/new"));
    await say(page, "Hello");
    await page.getByText(/The budget is used up/).waitFor();
    // The server refuses: the message stays, with the reason.
    for (const [status, code, words] of [
      [409, "AGENT_STOPPED", "Not sent: This agent is stopped"],
      [400, "INVALID_INPUT", "Not sent: Too long"],
      [429, "TOO_MANY_WAITING", "Not sent yet."],
      [503, "STOPPING", "Not sent yet."],
    ] as const) {
      const error = words.includes(":") ? words.slice("Not sent: ".length) : "later";
      await page.route("**/conversations/**", (route) =>
        route.request().method() === "POST"
          ? route.fulfill({ status, json: { error, message: error, code } })
          : route.continue(),
      );
      await say(page, `Refused with ${status}`);
      await page.getByRole("alert").getByText(words).waitFor();
      await page.getByRole("button", { name: "Remove this message" }).click();
      await page.unroute("**/conversations/**");
    }
    await page.goto(chat("/sess_0000000000000000"));
    await page.getByText("This agent has no conversation with this id.").waitFor();
    await page.goto("/agents/00000000-0000-7000-8000-000000000000/chat");
    await page.getByRole("alert").waitFor();
  });

  test("a call that needs approval is asked about in place; after it the agent goes on", async () => {
    await using console = await openConsole(berth, ada);
    const { page } = console;
    const answers = [
      { toolCalls: [{ name: "web_fetch", arguments: { url: outside.url.href } }] },
      { toolCalls: [{ name: "remind_me", arguments: { text: "Storm", inMinutes: 5 } }] },
    ];
    // Each is asked for once: the turn goes on behind what it has done. Other conversations may ask at the same time.
    upstream.script(({ lastUser }) => (lastUser.includes("Read this page") && answers.shift()) || "It is set.");
    await console.open(chat("/new"));
    await say(page, "Read this page");
    const card = page.getByRole("region", { name: "Approval for “Set a reminder”" });
    await card.getByText("Set a reminder in 5 minutes: Storm").waitFor();
    await card.getByText("Exactly what “Set a reminder” is called with").click();
    await card.getByText('"inMinutes": 5').waitFor();
    await card.getByRole("button", { name: "Approve once" }).click();
    await page.getByText("You approved “Set a reminder”; it ran.").waitFor();
    await feed(page).getByText("It is set.").waitFor();
    expect(console.complaints()).toEqual([]);
  });
});

describe("files and voice", () => {
  const PIXEL = Buffer.from(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
    "base64",
  );

  test("are chosen, shown as chips, sent and shown in the conversation", async () => {
    await using console = await openConsole(berth, ada);
    const { page } = console;
    upstream.script("I have seen them.");
    await console.open(chat("/new"));
    await page.locator('input[type="file"]').setInputFiles([
      { name: "boat.png", mimeType: "image/png", buffer: PIXEL },
      { name: "plan <img src=x>.txt", mimeType: "text/plain", buffer: Buffer.from("Berth 3 at nine") },
    ]);
    const chips = page.getByRole("list", { name: "Files of this message" });
    await chips.getByText("boat.png").waitFor();
    await eventually(async () => (await chips.getByText("is uploaded").count()) === 0);
    await page.getByRole("button", { name: "Remove boat.png" }).focus();
    await say(page, "See these");
    await feed(page).getByRole("img", { name: "boat.png" }).waitFor();
    await feed(page)
      .getByRole("link", { name: /plan <img src=x>/ })
      .waitFor();
    expect(await feed(page).getByText("[photo").count()).toBe(0);
    await eventually(() => upstream.chats.length > 0);
    expect(JSON.stringify(upstream.chats.at(-1)?.messages)).toContain("Berth 3 at nine");
    expect(await page.locator("img[src=x]").count()).toBe(0);
    expect(console.complaints()).toEqual([]);
  });

  test("a recording is sent as a file that models read", async () => {
    await using console = await openConsole(berth, ada);
    const { page } = console;
    // A tone stands for the microphone.
    await page.addInitScript(`
      const tone = async () => {
        const audio = new AudioContext();
        const source = audio.createOscillator();
        const out = audio.createMediaStreamDestination();
        source.connect(out);
        source.start();
        return out.stream;
      };
      Object.defineProperty(navigator, "mediaDevices", { value: { getUserMedia: tone } });`);
    await console.open(chat("/new"));
    await page.getByRole("button", { name: "Record your voice" }).click();
    await page.getByText("0:01").waitFor();
    await page.getByRole("button", { name: "Use the recording" }).click();
    await page.getByRole("list", { name: "Files of this message" }).getByText("voice.wav").waitFor();
    await page.getByText("is uploaded").waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Send" }).click();
    await feed(page).locator("audio").waitFor();
    // The player shows its length before anybody plays it.
    const length = () => page.evaluate<number>("document.querySelector('audio')?.duration");
    await eventually(async () => (await length()) > 0.5, { what: "the player knows the length" });
    const { body } = await ada.get<{ uploads: { type: string; size: number }[] }>(`/api/agents/${agentId}/uploads`);
    expect(body.uploads[0]?.type).toMatch(/^audio\/.*wav/);
    expect(body.uploads[0]?.size).toBeGreaterThan(10_000);
  });
});

describe("conversations of other channels", () => {
  test("are read as they happened, found by their words, and not written into", async () => {
    await storeConversation(berth, {
      agentId,
      platform: "channel_a",
      name: "Bob Müller",
      messages: ["Is the crane free?"],
    });
    await storeConversation(berth, { agentId, platform: "channel_c", name: "Ilse", messages: ["We arrive at six."] });
    await using console = await openConsole(berth, ada);
    const { page } = console;
    await console.open(chat());
    const list = page.getByRole("navigation", { name: "Conversations" });
    await list.getByRole("link", { name: /Ilse/ }).waitFor();
    await list.getByRole("searchbox").fill("CRANE");
    await list.getByRole("link", { name: /Ilse/ }).waitFor({ state: "detached" });
    expect(page.url()).toContain("query=CRANE");
    await list.getByRole("link", { name: /Bob Müller/ }).click();
    await feed(page).getByText("Is the crane free?", { exact: true }).waitFor();
    await feed(page).getByText("Bob Müller").first().waitFor();
    await page.getByText("This conversation is held on Telegram.").waitFor();
    expect(await field(page).count()).toBe(0);
    await page.reload();
    await feed(page).getByText("Is the crane free?", { exact: true }).waitFor();
    expect(await list.getByRole("searchbox").inputValue()).toBe("CRANE");
    await list.getByRole("searchbox").fill("nothing like it");
    await list.getByText("Nothing found").waitFor();
  });

  test("open at the message that a search has found, however far back; a reload shows it again", async () => {
    const messages = Array.from({ length: 400 }, (_, n) => (n === 40 ? "Is the lighthouse lit?" : `Message ${n}`));
    await storeConversation(berth, { agentId, platform: "channel_a", name: "Bob", messages, reply: () => "Aye." });
    await using console = await openConsole(berth, ada);
    const { page } = console;
    await console.open(chat("?query=lighthouse"));
    await page.getByRole("link", { name: /Bob/ }).click();
    const found = feed(page).locator("[aria-current]", { hasText: "Is the lighthouse lit?" });
    const distance = () =>
      found.evaluate((element) => {
        const box = element.closest('[role="region"]')?.getBoundingClientRect();
        const { top, height } = element.getBoundingClientRect();
        return box ? Math.abs(top + height / 2 - box.top - box.height / 2) : Number.POSITIVE_INFINITY;
      });
    for (const way of ["click", "reload"]) {
      if (way === "reload") await page.reload();
      await found.waitFor();
      await eventually(async () => (await distance()) < 50, { what: `${way}: in the middle` });
    }
    await console.shoot("chat-found");
    await page.getByRole("button", { name: "Jump to the latest" }).click();
    await feed(page).getByText("Message 399").waitFor();
    expect(console.complaints()).toEqual([]);
  });

  test("keep their place when somebody flings to the top and older messages come in above", async () => {
    const messages = Array.from({ length: 100 }, (_, n) => `Message ${n} ${"and more words ".repeat((n * 7) % 60)}`);
    const id = await storeConversation(berth, { agentId, platform: "channel_a", name: "Bob", messages });
    await using console = await openConsole(berth, ada);
    const { page } = console;
    await console.open(chat(`/${id}`));
    await feed(page).getByText("Message 99 ").first().waitFor();
    const first = feed(page)
      .getByText(/^Message 75 /)
      .first();
    const place = () =>
      first.evaluate((element) => {
        const box = element.closest('[role="region"]');
        return element.getBoundingClientRect().top - (box?.getBoundingClientRect().top ?? 0);
      });
    const asked = Promise.withResolvers<void>();
    const gate = Promise.withResolvers<void>();
    await page.route(/before=/, async (route) => {
      asked.resolve();
      await gate.promise;
      await route.continue();
    });
    await feed(page).hover();
    await page.mouse.wheel(0, -100_000);
    await asked.promise;
    await first.waitFor();
    await eventually(async () => (await feed(page).evaluate((element) => element.scrollTop)) === 0);
    const before = await place();
    gate.resolve();
    await eventually(async () => (await feed(page).evaluate((element) => element.scrollTop)) > 5_000);
    await eventually(async () => Math.abs((await place()) - before) < 3);
    expect(console.complaints()).toEqual([]);
  });

  test("5,000 messages open at once, at the end; older ones come when one scrolls up", async () => {
    const messages = Array.from({ length: 2_500 }, (_, n) => `Message ${n} ${"and more ".repeat(n % 9)}`);
    const id = await storeConversation(berth, { agentId, platform: "channel_a", name: "Bob", messages });
    await using console = await openConsole(berth, ada);
    const { page } = console;
    await console.open(chat());
    const row = page.getByRole("link", { name: /Bob/ });
    await row.waitFor();
    // From the click to the painted last message, in the page's own time.
    const ms = await page.evaluate<number>(`(async () => {
      const started = performance.now();
      [...document.querySelectorAll("a")].find((link) => link.textContent.includes("Bob")).click();
      const list = () => document.querySelector('[aria-label="Messages of this conversation"] ol')?.textContent ?? "";
      while (!list().includes("Message 2499")) await new Promise(requestAnimationFrame);
      return performance.now() - started;
    })()`);
    expect(page.url()).toContain(id);
    // Under 200 ms on an idle machine.
    expect(ms).toBeLessThan(1_000);
    const box = feed(page);
    const state = () =>
      box.evaluate((element) => ({
        rows: element.querySelectorAll("li").length,
        fromEnd: element.scrollHeight - element.clientHeight - element.scrollTop,
      }));
    await eventually(async () => (await state()).fromEnd < 5);
    expect((await state()).rows).toBeLessThan(60);

    await box.hover();
    // Rows that are measured late may bring the list back to its end.
    await eventually(async () => {
      await page.mouse.wheel(0, -10_000);
      return page.getByRole("button", { name: "Jump to the latest" }).isVisible();
    });
    // Older pages come in above, so that one can go on.
    await eventually(async () => {
      await page.mouse.wheel(0, -10_000);
      return (await state()).fromEnd > 6_000;
    });
    await page.getByRole("button", { name: "Jump to the latest" }).click();
    await feed(page)
      .getByText(/^Message 2499/)
      .waitFor();
    expect((await state()).rows).toBeLessThan(60);
    expect(console.complaints()).toEqual([]);
  });
});

test("hostile texts stay texts: in messages, replies, names, tools and files nothing becomes an element or a request", async () => {
  const id = await storeConversation(berth, {
    agentId,
    platform: "channel_a",
    name: HOSTILE_TEXTS[0] ?? "",
    messages: [...HOSTILE_TEXTS],
    reply: (text) => text,
    steps: HOSTILE_TEXTS.map((text) => ({ tool: text, input: JSON.stringify({ text }), result: text, ok: true })),
  });
  await using console = await openConsole(berth, ada);
  const { page } = console;
  const requests: string[] = [];
  page.on("request", (request) => requests.push(request.url()));
  await console.open(chat(`/${id}`));
  await feed(page).getByRole("listitem").first().waitFor();
  const box = feed(page);
  const seen = new Set<string>();
  for (let round = 0; round < 40; round++) {
    await box.evaluate((element) => {
      for (const closed of element.querySelectorAll("details:not([open])")) closed.setAttribute("open", "");
    });
    for (const tag of await box.evaluate((element) => [
      ...new Set([...element.querySelectorAll("*")].map(({ localName }) => localName)),
    ])) {
      seen.add(tag);
    }
    const isAtStart = await box.evaluate((element) => {
      element.scrollBy({ top: -element.clientHeight });
      return element.scrollTop === 0;
    });
    if (isAtStart) break;
  }
  for (const tag of [
    "script",
    "img",
    "iframe",
    "object",
    "embed",
    "style",
    "form",
    "svg:not([class])",
    "base",
    "meta",
    "link",
  ]) {
    expect([tag, seen.has(tag)]).toEqual([tag, false]);
  }
  const links: string[] = await page.evaluate(
    `[...document.querySelectorAll('[aria-label="Messages of this conversation"] a')].map(({ href }) => href)`,
  );
  for (const href of links) expect(href).toMatch(/^(?:https?|mailto):/);
  expect(requests.filter((url) => new URL(url).origin !== new URL(berth.web).origin)).toEqual([]);
  expect(await page.evaluate("globalThis.hacked")).toBeUndefined();
  expect(console.complaints()).toEqual([]);
});

test("the page is accessible: a conversation, its turn, an approval, another channel, the beginning", async () => {
  upstream.script(({ toolResults, lastUser }) => {
    const last = toolResults.at(-1)?.content ?? "";
    if (lastUser.startsWith("Read")) {
      if (last.includes("was not run")) return "Please approve it.";
      if (last === "") return { toolCalls: [{ name: "web_fetch", arguments: { url: outside.url.href } }] };
      return { toolCalls: [{ name: "remind_me", arguments: { text: "Storm", inMinutes: 5 } }] };
    }
    return last === ""
      ? { toolCalls: [{ name: "remember", arguments: { fact: "x" } }] }
      : "Here:\n\n| A | B |\n|---|---|\n| 1 | 2 |\n\n```ts\nlet a = 1;\n```\n\n> quoted [link](https://example.com)";
  });
  const id = await talked("Show me everything");
  const approval = await talked("Read this page");
  const channel = await storeConversation(berth, {
    agentId,
    platform: "channel_b",
    name: "deckhand",
    messages: ["Hi"],
  });
  await expectAccessible(berth, ada, chat(`/${id}`), {
    name: "chat",
    async prepare(page) {
      await feed(page).locator("summary").first().click();
      await feed(page)
        .locator("summary", { hasText: /^(?:Remember a fact|Tatsache merken)/ })
        .click();
    },
  });
  await expectAccessible(berth, ada, chat(`/${id}`), {
    name: "chat-turn",
    async prepare(page) {
      await page.getByRole("button", { name: /fake-small/ }).click();
      await page
        .getByRole("dialog")
        .getByText(/^(?:Remember a fact|Tatsache merken)$/)
        .waitFor();
    },
  });
  await expectAccessible(berth, ada, chat(`/${approval}`), {
    name: "chat-approval",
    prepare: (page) => page.getByRole("region", { name: /Set a reminder|Erinnerung setzen/ }).waitFor(),
  });
  await expectAccessible(berth, ada, chat(`/${channel}`), { name: "chat-channel" });
  await expectAccessible(berth, ada, chat("/new"), { name: "chat-new" });
  await expectAccessible(berth, ada, chat(), { name: "chat-list" });
});
