// The page of the API in Chromium: quick, accessible in both themes, and able to send requests with a session or a pasted key.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { openPage, violationsOf } from "./support/axe.ts";
import { type Berth, startBerth } from "./support/berth.ts";
import { openChromium, type Page } from "./support/chromium.ts";
import { type Client, createClient } from "./support/client.ts";
import { eventually } from "./support/eventually.ts";

let berth: Berth;
let page: Page;
let ada: Client;
beforeAll(async () => {
  berth = await startBerth();
  ada = createClient(berth);
  await ada.join();
  page = await openChromium();
});
afterAll(async () => {
  await page?.[Symbol.asyncDispose]();
  await berth?.[Symbol.asyncDispose]();
});

const IS_TOO_WIDE = "document.documentElement.scrollWidth > innerWidth";
const complaints = () =>
  page.consoleEntries().filter((text) => /Content Security|Trusted|Refused|TypeError|ReferenceError/.test(text));

/** Shows an operation of the page that is open. */
async function show(operationId: string): Promise<void> {
  await page.evaluate(`location.hash = ${JSON.stringify(operationId)}`);
  await eventually(
    () => page.evaluate(`document.querySelector("article .meta code")?.textContent === "${operationId}"`),
    {
      what: `${operationId} is shown`,
    },
  );
}

/** Sends the form; returns what the page says of the answer. */
async function send(): Promise<string> {
  await page.evaluate(`document.querySelector("form.try").requestSubmit()`);
  await eventually(() => page.evaluate(`Boolean(document.querySelector("form.try .good, form.try .bad"))`), {
    what: "an answer is shown",
  });
  return page.evaluate(`document.querySelector("form.try .good, form.try .bad").textContent`);
}

const shownBody = () => page.evaluate<string>(`[...document.querySelectorAll("form.try pre")].at(-1).textContent`);

/** Types into a field, as its listeners see it. */
const type = (selector: string, text: string) =>
  page.evaluate(`(() => {
    const field = document.querySelector(${JSON.stringify(selector)});
    field.value = ${JSON.stringify(text)};
    field.dispatchEvent(new Event("input", { bubbles: true }));
  })()`);

test("is there within a second of the visit, on both surfaces", async () => {
  await page.emulate({ theme: "light", width: 1280, language: "en" });
  for (const side of ["web", "backend"] as const) {
    // The document is made at the first visit of anybody.
    await openPage(page, `${berth[side]}/swagger`);
    const times: number[] = [];
    for (let visit = 0; visit < 3; visit++) {
      await page.load("about:blank");
      const started = performance.now();
      await page.load(`${berth[side]}/swagger`);
      await eventually(() => page.evaluate(`Boolean(document.querySelector("h1")?.checkVisibility())`), { everyMs: 5 });
      times.push(performance.now() - started);
    }
    expect(Math.min(...times)).toBeLessThan(1_000);
  }
});

describe.each([
  { theme: "light", width: 1280 },
  { theme: "dark", width: 390 },
] as const)("$theme, $width wide", (view) => {
  test("has no finding of axe, and fits", async () => {
    await page.emulate({ ...view, language: "en" });
    for (const side of ["web", "backend"] as const) {
      await openPage(page, `${berth[side]}/swagger`);
      expect({ side, found: await violationsOf(page) }).toEqual({ side, found: [] });
      expect({ side, isTooWide: await page.evaluate(IS_TOO_WIDE) }).toEqual({ side, isTooWide: false });
      for (const id of ["createAgent", "listAgents", "setAgentConfig"]) {
        await show(id);
        await page.evaluate(`for (const one of document.querySelectorAll("main details")) one.open = true`);
        expect({ id, found: await violationsOf(page) }).toEqual({ id, found: [] });
        expect({ id, isTooWide: await page.evaluate(IS_TOO_WIDE) }).toEqual({ id, isTooWide: false });
      }
    }
    expect(complaints()).toEqual([]);
  });
});

describe("the list of operations", () => {
  const hits = () => page.evaluate<string>(`document.querySelector("nav .count").textContent`);

  test("shows the path of each, so that equal summaries can be told apart", async () => {
    await page.emulate({ theme: "light", width: 1280, language: "en" });
    await openPage(page, `${berth.web}/swagger`);
    const rows = await page.evaluate<string[]>(
      `[...document.querySelectorAll("nav .operations a")].map((row) => row.textContent)`,
    );
    expect(new Set(rows).size).toBe(rows.length);
    expect(rows.join("\n")).toContain("/api/agents/{id}/chat");
  });

  test("is searched in descriptions and by the stem of a word", async () => {
    for (const [word, id] of [
      ["streaming", "sendMessage"],
      ["cost", "getUsage"],
      ["signature", "createWebhook"],
    ] as const) {
      await type("nav input", word);
      await eventually(async () => /^[1-9]\d* found$/.test(await hits()), { what: `${word} is found` });
      expect(await page.evaluate(`Boolean(document.querySelector('nav a[href="#${id}"]'))`)).toBe(true);
    }
  });

  test("closes on a phone when an operation is chosen", async () => {
    await page.emulate({ theme: "light", width: 390, language: "en" });
    await openPage(page, `${berth.web}/swagger`);
    await page.evaluate(`document.querySelector("nav > details").open = true`);
    await show("createAgent");
    await eventually(() => page.evaluate(`!document.querySelector("nav > details").open`), { what: "the list closes" });
    await page.emulate({ theme: "light", width: 1280, language: "en" });
  });
});

describe("trying a request", () => {
  beforeAll(() => page.emulate({ theme: "light", width: 1280, language: "en" }));

  test("without a credential shows the refusal", async () => {
    await openPage(page, `${berth.web}/swagger`);
    await show("getAccount");
    expect(await send()).toBe("401 Unauthorized");
    expect(await shownBody()).toContain('"code": "UNAUTHORIZED"');
  });

  test("with a pasted key uses the key, which is in no storage", async () => {
    const { body } = await ada.post<{ key: string }>("/api/keys", { name: "Page", scopes: ["read"] });
    await openPage(page, `${berth.web}/swagger`);
    await type("#key", body.key);
    await show("getAccount");
    expect(await send()).toBe("200 OK");
    expect(JSON.parse(await shownBody())).toMatchObject({ email: ada.account.email });
    const kept = await page.evaluate<string>(
      "JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])",
    );
    expect(kept).not.toContain(body.key);
    expect(await page.evaluate<string>("document.body.textContent")).not.toContain(body.key);
  });

  test("with the session of the browser, after signing in", async () => {
    const { email, password } = ada.account;
    await page.load(`${berth.web}/login`);
    const status = await page.evaluate<number>(
      `fetch("/api/auth/callback/credentials", { method: "POST", headers: { "content-type": "application/json" }, body: ${JSON.stringify(JSON.stringify({ email, password }))} }).then((answer) => answer.status)`,
    );
    expect(status).toBe(200);
    await openPage(page, `${berth.web}/swagger`);
    await eventually(
      () => page.evaluate(`document.querySelector("header").textContent.includes(${JSON.stringify(email)})`),
      {
        what: "the page says who is signed in",
      },
    );
    await show("getAccount");
    expect(await send()).toBe("200 OK");
    await show("updateAccount");
    await type("form.try textarea", '{"name":"Countess"}');
    expect(await send()).toBe("200 OK");
    expect(JSON.parse(await shownBody())).toMatchObject({ name: "Countess" });
  });
});

test("a search finds operations by words, and a guide is linked for each tag", async () => {
  await page.emulate({ theme: "light", width: 1280, language: "en" });
  await openPage(page, `${berth.web}/swagger`);
  const guides = await page.evaluate<string[]>(
    `[...document.querySelectorAll("article .tag p a")].map((one) => one.getAttribute("href"))`,
  );
  expect(guides.length).toBeGreaterThan(20);
  for (const guide of guides) expect(guide).toMatch(/^\/docs\/[a-z0-9-]+$/);
  await type("nav input", "memory delete");
  const found = await page.evaluate<string[]>(
    `[...document.querySelectorAll("nav .operations a")].map((one) => one.hash)`,
  );
  expect(found).toContain("#deleteAgentMemory");
  expect(found).not.toContain("#listAgents");
});
