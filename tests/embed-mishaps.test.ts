// What the chat on other people's pages does when something comes between: devices without a mouse, a killed server, a second tab,
// an owner who takes the site out, a visitor who writes on or stops the answer. In Chromium.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { type Berth, startBerth } from "./support/berth.ts";
import type { Client } from "./support/client.ts";
import { focused, input, opener, panel, said, say } from "./support/embed-chat.ts";
import { eventually } from "./support/eventually.ts";
import { member, provision } from "./support/members.ts";
import { type Site, startSite, visit } from "./support/sites.ts";
import { startUpstream, type Upstream } from "./support/upstream.ts";

let upstream: Upstream;
let berth: Berth;
let ada: Client;
let site: Site;
let id: string;

beforeAll(async () => {
  upstream = await startUpstream();
  const env = { PROVIDER_3_BASE_URL: upstream.url, MODEL_A: "provider_3:fake-small", RATE_LIMITS: "off" };
  berth = await startBerth({ env });
  ada = await member(berth, "enterprise");
  site = startSite();
});
afterAll(async () => {
  await site?.[Symbol.asyncDispose]();
  await berth?.[Symbol.asyncDispose]();
  await upstream?.stop();
});
beforeEach(async () => {
  upstream.reset();
  ({ id } = await provision(ada, "Harbour", { embed: { origins: [site.origin], greeting: "Ahoy!" } }));
  site.body = scriptOf();
});

const scriptOf = (attributes = "") =>
  `<script src="${berth.web}/embed.js" data-agent="${id}" ${attributes} defer></script>`;

/** What the owner sees of the only conversation, oldest first. */
async function stored(): Promise<{ role: string; text: string }[]> {
  const path = `/api/agents/${id}/conversations`;
  const { body } = await ada.get<{ conversations: { id: string }[] }>(path);
  expect(body.conversations).toHaveLength(1);
  const messages = await ada.get<{ messages: { role: string; text: string }[] }>(
    `${path}/${body.conversations[0]?.id}/messages`,
  );
  return messages.body.messages.map(({ role, text }) => ({ role, text })).reverse();
}

describe("the focus is in the field when the bubble opens", () => {
  test.each(["click", "tap", "Enter", "Space"])("by %s, without a mouse, and again the second time", async (how) => {
    await using visitor = await visit(site.origin, { width: 390, isPhone: true });
    const { page } = visitor;
    await opener(page).waitFor();
    expect(await page.evaluate('matchMedia("(hover: hover)").matches')).toBe(false);
    for (const text of ["hello", "again"]) {
      if (how === "click") await opener(page).click();
      else if (how === "tap") await opener(page).tap();
      else await opener(page).press(how);
      await panel(page).waitFor();
      expect(await focused(page)).toContain("<textarea");
      await page.keyboard.type(text);
      expect(await input(page).inputValue()).toBe(text);
      await input(page).fill("");
      await page.keyboard.press("Escape");
    }
  });
});

describe("an answer", () => {
  test("that a kill interrupts is stored once and finished once, and the bubble shows it", async () => {
    upstream.script({ pieces: ["Once upon ", "a time"], hangAfter: 3 });
    await using visitor = await visit(site.origin);
    const { page } = visitor;
    await opener(page).click();
    await say(page, "Tell me a story");
    await panel(page).getByText("Once upon a time").waitFor();
    await berth.kill();
    upstream.script("Once upon a time, and they lived happily.");
    await berth.restart({ keepPorts: true });
    await said(page, "Once upon a time, and they lived happily.").waitFor();
    expect(await stored()).toEqual([
      { role: "user", text: "Tell me a story" },
      { role: "assistant", text: "Once upon a time, and they lived happily." },
    ]);
    expect(upstream.chats).toHaveLength(2);
  });

  test("goes on while the visitor's connection is gone, and is not asked for again", async () => {
    const go = Promise.withResolvers<void>();
    upstream.script(async () => {
      await go.promise;
      return "Here it is.";
    });
    await using visitor = await visit(site.origin);
    const { page } = visitor;
    await opener(page).click();
    await say(page, "Do you keep it?");
    await upstream.waitFor(({ chats }) => chats.length > 0);
    await page.reload();
    await opener(page).click();
    go.resolve();
    await said(page, "Here it is.").waitFor();
    expect(upstream.chats).toHaveLength(1);
    expect(await stored()).toHaveLength(2);
  });

  test("is stopped by the visitor, here and at the server; what was said of it stays", async () => {
    upstream.script({ pieces: ["One, ", "two"], hangAfter: 3 });
    await using visitor = await visit(site.origin);
    const { page } = visitor;
    await opener(page).click();
    await say(page, "Count to a million");
    await panel(page).getByText("One, two").waitFor();
    await panel(page).getByRole("button", { name: "Stop the answer" }).click();
    await panel(page).getByRole("button", { name: "Send" }).waitFor();
    await eventually(() => upstream.chats.at(-1)?.outcome === "aborted");
    await eventually(async () => (await stored()).length === 2);
    upstream.script(undefined);
    await say(page, "Thank you");
    await said(page, "echo: Thank you").waitFor();
    await said(page, "One, two").waitFor();
    expect(await stored()).toHaveLength(4);
  });

  test("that still runs lets the visitor write on, and Enter says what to do", async () => {
    upstream.script({ pieces: ["One, ", "two"], hangAfter: 3 });
    await using visitor = await visit(site.origin);
    const { page } = visitor;
    await opener(page).click();
    await say(page, "Count to a million");
    await panel(page).getByText("One, two").waitFor();
    await say(page, "And then?");
    await panel(page).getByText("Harbour is still answering. Send this afterwards, or stop the answer.").waitFor();
    expect(await input(page).inputValue()).toBe("And then?");
    await panel(page).getByRole("button", { name: "Stop the answer" }).click();
    await panel(page).getByText("Harbour is still answering").waitFor({ state: "detached" });
    upstream.script(undefined);
    await input(page).press("Enter");
    await said(page, "echo: And then?").waitFor();
  });
});

test("without a greeting of the owner, the chat begins with one of its own, in the visitor's language", async () => {
  ({ id } = await provision(ada, "Harbour", { embed: { origins: [site.origin] } }));
  site.body = scriptOf('data-lang="de"');
  await using visitor = await visit(site.origin);
  await visitor.page.getByRole("button", { name: "Chat mit Harbour" }).click();
  await said(visitor.page, "Hallo! Wie kann ich helfen?").waitFor();
});

test("a reply is announced with a pause between its paragraphs, items and cells", async () => {
  upstream.script("Two:\n\n- one\n- two\n\n| a | b |\n|---|---|\n| c | d |");
  await using visitor = await visit(site.origin);
  const { page } = visitor;
  await opener(page).click();
  await say(page, "Which?");
  const voice = panel(page).getByRole("status").filter({ hasText: "Two:" });
  await voice.waitFor();
  expect((await voice.textContent())?.split(/\s+/)).toEqual(["Harbour:", "Two:", "one", "two", "a", "b", "c", "d"]);
});

test("what the chat says below the talk does not cover the last reply", async () => {
  upstream.script(Array.from({ length: 60 }, (_, n) => `Line ${n}`).join("\n\n"));
  await using visitor = await visit(site.origin, { width: 390 });
  const { page } = visitor;
  await opener(page).click();
  await say(page, "Tell me much");
  await said(page, "Line 59").waitFor();
  await visitor.context.setOffline(true);
  await say(page, "More");
  await panel(page).getByText("You are offline.").waitFor();
  const isAtEnd = "(({ scrollHeight, scrollTop, clientHeight }) => scrollHeight - scrollTop - clientHeight < 2)";
  const log = 'document.querySelector("body > div").shadowRoot.querySelector(".log")';
  await eventually(() => page.evaluate<boolean>(`${isAtEnd}(${log})`));
  // Who reads further above stays there.
  await page.evaluate(`${log}.scrollTo(0, 100)`);
  await visitor.context.setOffline(false);
  await panel(page).getByText("You are offline.").waitFor({ state: "detached" });
  expect(await page.evaluate<number>(`${log}.scrollTop`)).toBe(100);
});

test("with data-remember, two tabs show and keep one conversation", async () => {
  site.body = scriptOf("data-remember");
  await using visitor = await visit(site.origin);
  const one = visitor.page;
  const two = await visitor.context.newPage();
  await two.goto(site.origin);
  const tabs = [one, two];
  for (const tab of tabs) await opener(tab).click();
  for (const [tab, text] of [
    [one, "tab one"],
    [two, "tab two"],
    [one, "again one"],
  ] as const) {
    await say(tab, text);
    for (const each of tabs) await said(each, `echo: ${text}`).waitFor();
  }
  expect(JSON.stringify(upstream.chats.at(-1)?.messages)).toContain("tab two");
  await two.reload();
  await opener(two).click();
  for (const text of ["tab one", "tab two", "again one"]) await said(two, `echo: ${text}`).waitFor();
  expect(upstream.chats).toHaveLength(3);
  await panel(one).getByRole("button", { name: "Start over" }).click();
  for (const each of tabs) await said(each, "echo: tab two").waitFor({ state: "detached" });
});

test("a site that was taken out while a chat is open says so, and sends nothing again", async () => {
  await using visitor = await visit(site.origin);
  const { page } = visitor;
  await opener(page).click();
  await say(page, "Hello");
  await said(page, "echo: Hello").waitFor();
  await ada.patch(`/api/agents/${id}`, { config: { embed: { origins: ["https://www.example.com"] } } });
  await say(page, "Still there?");
  await panel(page).getByRole("log").getByText("This chat is no longer available on this site.").waitFor();
  expect(await panel(page).getByText("can't be reached").count()).toBe(0);
  expect(await page.evaluate("JSON.stringify(sessionStorage)")).not.toContain("isOpen");
  await ada.patch(`/api/agents/${id}`, { config: { embed: { origins: [site.origin] } } });
  await panel(page).getByRole("button", { name: "Try again" }).click();
  await said(page, "echo: Still there?").waitFor();
});
