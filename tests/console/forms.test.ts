// What is wrong in a form is told at its field, in the language of the console, and never in the browser's own bubble.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Locator, Page } from "playwright-core";
import { type Berth, startBerth } from "../support/berth.ts";
import type { Client } from "../support/client.ts";
import { eventually } from "../support/eventually.ts";
import { member } from "../support/members.ts";
import { type Console, expectAccessible, openConsole } from "./support/console.ts";

let berth: Berth;
let root: Client;

beforeAll(async () => {
  berth = await startBerth({ env: { RATE_LIMITS: "off" } });
  root = await member(berth, "enterprise");
  await berth.command("user", "admin", root.account.email);
});
afterAll(() => berth?.[Symbol.asyncDispose]());

/** What a screen reader says of a field beside its name, and whether it has the focus. */
async function spoken(field: Locator) {
  const page = field.page();
  const ids = ((await field.getAttribute("aria-describedby")) ?? "").split(" ").filter(Boolean);
  const words = await Promise.all(ids.map((id) => page.locator(`[id="${id}"]`).textContent()));
  const focused = await field.and(page.locator(":focus")).count();
  return { isInvalid: await field.getAttribute("aria-invalid"), isFocused: focused === 1, words: words.join(" ") };
}

/** Resolves when the field has the focus and says this. */
async function expectComplaint(field: Locator, words: string): Promise<void> {
  await eventually(async () => {
    expect(await spoken(field)).toEqual({ isInvalid: "true", isFocused: true, words: expect.stringContaining(words) });
    return true;
  });
}

interface Case {
  path: string;
  field: string;
  typed: string;
  send: string;
  words: string;
}

const ENGLISH: readonly Case[] = [
  {
    ...{ path: "/admin/users?new=account", field: "Email address", typed: "grace", send: "Make the account" },
    words: "This is no email address, such as name@example.com.",
  },
  {
    ...{ path: "/webhooks?new=1", field: "Address", typed: "example.com/till", send: "Make the webhook" },
    words: "This is no whole address. It begins with https://",
  },
  {
    path: "/admin/users?new=account",
    field: "Email address",
    typed: " ",
    send: "Make the account",
    words: "Fill this in.",
  },
];

const GERMAN: readonly Case[] = [
  {
    ...{ path: "/admin/users?new=account", field: "E-Mail-Adresse", typed: "grace", send: "Konto anlegen" },
    words: "Das ist keine E-Mail-Adresse wie name@example.com.",
  },
];

async function fillAndSend({ page, open }: Console, { path, field, typed, send }: Case): Promise<Locator> {
  await open(path);
  const control = page.getByRole("dialog").getByLabel(field, { exact: true });
  await control.fill(typed);
  await page.getByRole("button", { name: send }).click();
  return control;
}

/** Whether the browser shows a bubble of its own: it does so only for forms without `noValidate`. */
const bubbles = (page: Page) => page.locator("form:not([novalidate])").count();

describe.each([
  ["en", ENGLISH],
  ["de", GERMAN],
] as const)("in %s", (language, cases) => {
  test.each(cases.map((one) => [`${one.field}: “${one.typed}”`, one] as const))("%s", async (_, one) => {
    // The console speaks another language than the browser: its own words count.
    await using console = await openConsole(berth, root, { theme: "light", width: 1280, language: "en" });
    await console.page.addInitScript(`localStorage.setItem("berth-language", "${language}")`);
    const requests: string[] = [];
    console.page.on("request", (request) => void (request.method() === "POST" && requests.push(request.url())));
    const field = await fillAndSend(console, one);
    await expectComplaint(field, one.words);
    expect(await bubbles(console.page)).toBe(0);
    expect(requests.filter((url) => url.includes("/api/"))).toEqual([]);
    // It goes away as soon as it is no longer true.
    await field.fill(one.typed.includes("/") ? "https://example.com/till" : "grace@example.com");
    await eventually(async () => (await spoken(field)).isInvalid === null);
    expect(console.complaints()).toEqual([]);
  });
});

test("a field that the server refuses gets the focus, too", async () => {
  await using console = await openConsole(berth, root);
  const { page } = console;
  await console.open("/wallet");
  const field = page.getByLabel("At most at once, in USD");
  await field.fill("much");
  await page.getByRole("button", { name: "Save limits" }).click();
  await expectComplaint(field, "decimal");
});

test("a form with complaints is accessible", async () => {
  await expectAccessible(berth, root, "/admin/users?new=account", {
    name: "form-complaints",
    async prepare(page) {
      await page.getByRole("dialog").locator("input[type=email]").fill("grace");
      await page.getByRole("dialog").locator("button[type=submit]").click();
      await page.locator("[aria-invalid=true]").waitFor();
    },
  });
});
