// Several tabs of one person, the end of a session while pages are open, and the keyboard's place when things go away.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { type Berth, startBerth } from "../support/berth.ts";
import { type Client, createClient } from "../support/client.ts";
import { member, provision } from "../support/members.ts";
import { expectAccessible, openConsole } from "./support/console.ts";

let berth: Berth;
beforeAll(async () => {
  berth = await startBerth({ env: { RATE_LIMITS: "off" } });
});
afterAll(() => berth?.[Symbol.asyncDispose]());

/** Two tabs of a new account at this address. */
async function openTabs(path: string, client?: Client) {
  const ada = client ?? (await member(berth));
  const console = await openConsole(berth, ada);
  await console.open(path);
  const other = await console.context.newPage();
  await other.goto(path);
  await other.locator("h1").first().waitFor();
  return { ada, console, page: console.page, other, [Symbol.asyncDispose]: () => console[Symbol.asyncDispose]() };
}

const nameField = (page: Page) => page.getByLabel("What mails and this console call you");
const signInDialog = (page: Page) => page.getByRole("dialog", { name: "Your session has ended" });

async function signIn(page: Page, { email, password }: Client["account"]): Promise<void> {
  await page.getByRole("textbox", { name: "Email" }).fill(email);
  await page.getByLabel("Password", { exact: true }).fill(password);
  await page.getByLabel("Password", { exact: true }).press("Enter");
}

describe("a session that ends while the console is open", () => {
  test("is asked for in another tab; then the page goes on with what was typed", async () => {
    await using opened = await openTabs("/account");
    const { ada, page, console } = opened;
    await nameField(page).fill("Grace");
    await ada.post("/api/auth/signout", {});
    await nameField(page).press("Enter");
    await signInDialog(page).waitFor();
    expect(await page.locator(":focus").textContent()).toBe("Sign in in a new tab");
    const [form] = await Promise.all([console.context.waitForEvent("page"), page.keyboard.press("Enter")]);
    await signIn(form, ada.account);
    await form.getByRole("heading", { level: 1, name: "Agents" }).waitFor();
    await signInDialog(page).waitFor({ state: "detached" });
    expect(await nameField(page).inputValue()).toBe("Grace");
    await nameField(page).press("Enter");
    await page.getByText("Name saved").waitFor();
    expect(console.complaints()).toEqual([]);
  });

  test("stays asked for until there is one", async () => {
    await using opened = await openTabs("/account");
    const { ada, page } = opened;
    await nameField(page).fill("Grace");
    await ada.post("/api/auth/signout", {});
    await nameField(page).press("Enter");
    await signInDialog(page).waitFor();
    await page.keyboard.press("Escape");
    await page.getByText("You are not signed in yet.").waitFor();
    await signInDialog(page).getByRole("button", { name: "Sign in here" }).click();
    await page.waitForURL(/\/login\?next=%2Faccount/);
  });

  test("is left behind where somebody else signs in: their pages show nothing of before", async () => {
    await using opened = await openTabs("/account");
    const { page, other, console } = opened;
    const bob = createClient(berth);
    await bob.join({ name: "Bob" });
    await page.route("**/api/settings", (route) =>
      route.continue({ headers: { ...route.request().headers(), cookie: bob.cookie } }),
    );
    await console.context.addCookies(
      bob.cookie.split("; ").map((pair) => {
        const [name = "", ...value] = pair.split("=");
        return { name, value: value.join("="), url: berth.web };
      }),
    );
    await page.reload();
    await other.getByText(bob.account.email).first().waitFor();
  });
});

test("the question for a new sign-in is accessible in both themes and sizes", async () => {
  const ada = await member(berth);
  await expectAccessible(berth, ada, "/account/notifications", {
    name: "session-ended",
    async prepare(page) {
      await page.route("**/api/settings", (route) => {
        if (route.request().method() === "GET") return route.fallback();
        return route.fulfill({ status: 401, json: { error: "Sign in first.", code: "UNAUTHORIZED" } });
      });
      await page.getByRole("switch").first().press("Space");
      await page.getByRole("dialog").waitFor();
    },
  });
});

describe("tabs of one person", () => {
  test("leave together when one signs out", async () => {
    await using opened = await openTabs("/account");
    const { page, other } = opened;
    await page.getByRole("button", { name: "Sign out", exact: true }).first().press("Enter");
    await page.waitForURL(/\/login/);
    await other.waitForURL(/\/login/);
  });

  test("show what another has changed, but not over what is being typed", async () => {
    await using opened = await openTabs("/account");
    const { page, other, console } = opened;
    await nameField(page).fill("Grace");
    await nameField(page).press("Enter");
    await other.locator("#rail").getByText("Grace").waitFor();
    expect(await nameField(other).inputValue()).toBe("Grace");
    await nameField(page).fill("Typed");
    await nameField(other).fill("Edith");
    await nameField(other).press("Enter");
    await page.locator("#rail").getByText("Edith").waitFor();
    expect(await nameField(page).inputValue()).toBe("Typed");
    expect(console.complaints()).toEqual([]);
  });

  test("read nothing again for what they only look up", async () => {
    await using opened = await openTabs("/account/plan");
    const { page, other } = opened;
    await other.getByText("Whoever makes an account with your link").waitFor();
    const reads: string[] = [];
    other.on("request", (request) => reads.push(request.url()));
    await page.reload();
    await page.getByRole("heading", { name: "Referral" }).waitFor();
    // Comes after all that the reload could have told the other tab.
    await page.evaluate("new BroadcastChannel('berth-tabs').postMessage({ type: 'changed' })");
    await other.waitForRequest(/\/api\/settings\/referral/);
    expect(reads.filter((url) => url.endsWith("/api/settings/referral"))).toHaveLength(1);
  });
});

describe("the keyboard's place", () => {
  const focused = (page: Page) => page.locator(":focus");

  test("stays in the list when a row is removed, and Ctrl+Z brings the row back", async () => {
    const ada = await member(berth);
    for (const name of ["one", "two", "three"]) await ada.post("/api/keys", { name, scopes: ["read"] });
    await using console = await openConsole(berth, ada);
    const { page } = console;
    await console.open("/account/keys");
    const revoke = (name: string) => page.getByRole("button", { name: `Revoke ${name}` });
    await revoke("two").press("Enter");
    await revoke("two").waitFor({ state: "detached" });
    await page.locator(":focus").waitFor();
    expect(await focused(page).getAttribute("aria-label")).toMatch(/^Revoke (one|three)$/);
    await page.keyboard.press("Control+z");
    await revoke("two").waitFor();
    expect((await ada.get<{ count: number }>("/api/keys")).body.count).toBe(3);
    expect(console.complaints()).toEqual([]);
  });

  test("is the new page after a link of the one before, from whose start Tab goes on", async () => {
    const ada = await member(berth);
    await provision(ada, "Harbour");
    await using console = await openConsole(berth, ada);
    const { page } = console;
    await console.open("/");
    await page.getByRole("link", { name: "Harbour", exact: true }).press("Enter");
    await page.getByRole("heading", { level: 1, name: "Harbour" }).waitFor();
    await page.locator("main:focus").waitFor();
    await page.keyboard.press("Tab");
    expect(await focused(page).getAttribute("aria-label")).toBe("Rename");
  });

  test("is given back by a menu and by a dialog that are left with Escape", async () => {
    const ada = await member(berth);
    await provision(ada, "Harbour");
    await using console = await openConsole(berth, ada);
    const { page } = console;
    await console.open("/");
    const menu = page.getByRole("button", { name: "Actions for Harbour" });
    await menu.press("Enter");
    await page.getByRole("menu").waitFor();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Escape");
    await page.getByRole("menu").waitFor({ state: "detached" });
    expect(await focused(page).getAttribute("aria-label")).toBe("Actions for Harbour");
    await page.getByRole("button", { name: "New agent" }).press("Enter");
    await page.getByRole("dialog").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    expect(await focused(page).textContent()).toContain("New agent");
  });

  test("is not lost where a name is changed in place: Escape leaves it as it was", async () => {
    const ada = await member(berth);
    const { id } = await provision(ada, "Harbour");
    await using console = await openConsole(berth, ada);
    const { page } = console;
    await console.open(`/agents/${id}`);
    await page.getByRole("button", { name: "Rename" }).press("Enter");
    await page.getByLabel("Name", { exact: true }).fill("Haven");
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Rename" }).waitFor();
    await page.locator(":focus").waitFor();
    expect(await focused(page).getAttribute("aria-label")).toBe("Rename");
    expect((await ada.get<{ agent: { name: string } }>(`/api/agents/${id}`)).body.agent.name).toBe("Harbour");
  });
});
