// The account's pages in Chromium: each main path, what people are told when it fails, and hostile texts.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { type Berth, startBerth } from "../support/berth.ts";
import { type Client, createClient } from "../support/client.ts";
import { type Issuer, startIssuer } from "../support/jwks.ts";
import { member } from "../support/members.ts";
import { type Oidc, startOidc } from "../support/oidc.ts";
import { newGooglePerson } from "../support/providers.ts";
import { createWallet } from "../support/wallets.ts";
import { expectAccessible, openConsole } from "./support/console.ts";
import { codeOf, enableTwoFactor, injectWallet } from "./support/credentials.ts";

let berth: Berth;
let oidc: Oidc;
let issuer: Issuer;

const HOSTILE = `<img src=x onerror="document.title='hacked'"> {{1}} [a](javascript:alert(1))`;

beforeAll(async () => {
  berth = await startBerth({ env: { RATE_LIMITS: "off", BOT_DETECTION: "off" } });
  oidc = await startOidc([`${berth.web}/api/auth/callback/oidc`]);
  const provider = {
    OIDC_ISSUER: oidc.issuer,
    OIDC_CLIENT_ID: oidc.clientId,
    OIDC_CLIENT_SECRET: oidc.clientSecret,
    OIDC_NAME: "Harbour ID",
  };
  issuer = await startIssuer();
  const social = { SOCIAL_ISSUER: issuer.url, SOCIAL_AUDIENCE: issuer.audience };
  await berth.restart({ keepPorts: true, env: { BASE_URL: berth.web, ...provider, ...social } });
});
afterAll(async () => {
  await berth?.[Symbol.asyncDispose]();
  await oidc?.[Symbol.asyncDispose]();
  await issuer?.[Symbol.asyncDispose]();
});

const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });
const toast = (page: Page, text: string) => page.getByRole("region", { name: "Messages" }).getByText(text).waitFor();
const settingsOf = async (client: Client) => (await client.get<Record<string, unknown>>("/api/settings")).body;
/** Opens a page of a new account. */
async function open(path: string, client?: Client) {
  const ada = client ?? (await member(berth));
  const console = await openConsole(berth, ada);
  await console.open(path);
  return { ada, console, page: console.page, [Symbol.asyncDispose]: () => console[Symbol.asyncDispose]() };
}

describe("the profile", () => {
  test("changes the name, which is shown as text", async () => {
    await using view = await open("/account");
    const { page, ada } = view;
    await page.getByLabel("What mails and this console call you").fill(HOSTILE);
    await button(page, "Save").click();
    await toast(page, "Name saved");
    await page.reload();
    await page.locator("#rail").getByText(HOSTILE).waitFor();
    expect(await settingsOf(ada)).toMatchObject({ name: HOSTILE });
    await page.getByRole("heading", { name: "Account", level: 1 }).waitFor();
    expect(await page.title()).toBe("Account · Berth");
    expect(view.console.complaints()).toEqual([]);
  });

  test("changes the address with the password, says what is wrong, and sends the link again", async () => {
    await using view = await open("/account");
    const { page, ada } = view;
    const other = await member(berth);
    await button(page, "Change").click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("New address").fill(other.account.email);
    await dialog.getByLabel("Current password").fill("wrong password");
    await button(page, "Send the link").click();
    await dialog.getByText("Email or password is wrong.").or(dialog.getByText("password is wrong")).first().waitFor();
    await dialog.getByLabel("Current password").fill(ada.account.password);
    await button(page, "Send the link").click();
    await dialog.getByRole("alert").filter({ hasText: "account" }).waitFor();
    const email = `new-${crypto.randomUUID()}@example.com`;
    await dialog.getByLabel("New address").fill(email);
    await button(page, "Send the link").click();
    // Without a mail server nobody is told to look into a mailbox.
    await toast(page, "This Berth sends no mails yet.");
    await page.getByText("Not verified").waitFor();
    await button(page, "Make a new link").click();
    await toast(page, "A new link is in the folder outbox.");
    expect(view.console.complaints()).toEqual([]);
  });

  test("deletes the account after its address and the password were typed", async () => {
    await using view = await open("/account");
    const { page, ada } = view;
    await button(page, "Delete the account…").click();
    const dialog = page.getByRole("dialog");
    const confirm = dialog.getByRole("button", { name: "Delete everything" });
    expect(await confirm.isDisabled()).toBe(true);
    await dialog.getByLabel(/^Type /).fill(ada.account.email);
    await dialog.getByLabel("Current password").fill("wrong password");
    await confirm.click();
    await dialog.getByText("wrong").first().waitFor();
    await dialog.getByLabel("Current password").fill(ada.account.password);
    await confirm.click();
    await page.getByRole("link", { name: "Sign in" }).waitFor();
    expect((await ada.get("/api/settings")).status).toBe(401);
  });
});

describe("security", () => {
  test("changes the password; the old one is refused from then on", async () => {
    await using view = await open("/account/security");
    const { page, ada } = view;
    await page.getByLabel("Current password").fill(ada.account.password);
    await page.getByLabel("New password").fill("short");
    expect(await button(page, "Change the password").isDisabled()).toBe(true);
    await page.getByLabel("New password").fill("password1");
    await button(page, "Change the password").click();
    await page.getByText("common").first().waitFor();
    await page.getByLabel("New password").fill("another good password");
    await button(page, "Change the password").click();
    await toast(page, "Password saved.");
    const { email, password } = ada.account;
    const signIn = (secret: string) =>
      createClient(berth).post("/api/auth/callback/credentials", { email, password: secret });
    expect((await signIn(password)).status).toBe(401);
    expect((await signIn("another good password")).status).toBe(200);
    expect(view.console.complaints()).toEqual([]);
  });

  test("turns two-factor on with a QR code, shows the recovery codes once, and turns it off with one", async () => {
    await using view = await open("/account/security");
    const { page, ada } = view;
    await button(page, "Turn on…").click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Current password").fill(ada.account.password);
    await button(page, "Continue").click();
    await dialog.getByRole("img", { name: "QR code of the key" }).waitFor();
    // The field has the focus, so that keyboards and password managers begin there.
    expect(await page.evaluate("document.activeElement.inputMode")).toBe("numeric");
    const secret = ((await dialog.locator("code").textContent()) ?? "").replaceAll(" ", "");
    await dialog.getByLabel("Code that the app shows now").fill("000000");
    await button(page, "Continue").click();
    await dialog.getByText("wrong").first().waitFor();
    await dialog.getByLabel("Code that the app shows now").fill(codeOf(secret));
    await button(page, "Continue").click();
    const codes = await dialog.getByRole("group", { name: "Recovery codes" }).textContent();
    const download = page.waitForEvent("download");
    await button(page, "Save as a file").click();
    expect((await download).suggestedFilename()).toBe("berth-recovery-codes.txt");
    await button(page, "I have kept them").click();
    await page.getByText("10 recovery codes are left.").waitFor();
    expect(await page.content()).not.toContain(codes?.split("\n")[0] ?? "none");
    await button(page, "Turn off…").click();
    await dialog.getByLabel("Current password").fill(ada.account.password);
    await dialog.getByLabel(/recovery code/).fill(codes?.split("\n")[0] ?? "");
    await button(page, "Turn it off").click();
    await toast(page, "Two-factor is off.");
    expect(await settingsOf(ada)).toMatchObject({ twoFactorEnabled: false });
    expect(view.console.complaints()).toEqual([]);
  });

  test("says when few recovery codes are left", async () => {
    const ada = await member(berth);
    const { recoveryCodes } = await enableTwoFactor(ada);
    for (const totp of recoveryCodes.slice(0, 8)) await ada.signIn({ totp });
    await using view = await open("/account/security", ada);
    await view.page.getByText("Only 2 recovery codes are left.").waitFor();
  });
});

test("an account of a wallet sets its first password and an address; its only way in can't be removed", async () => {
  const wallet = createWallet();
  const ada = createClient(berth);
  const { body } = await ada.get<{ message: string }>(`/api/auth/nonce?address=${wallet.address}`);
  const proof = { message: body.message, signature: await wallet.sign(body.message) };
  await ada.post("/api/auth/callback/wallet", proof, { headers: { accept: "application/json" } });
  await using view = await open("/account/sign-ins", ada);
  const { page } = view;
  await page.getByText("the only way in, or the name of your account").waitFor();
  expect(await button(page, "Remove Wallet").count()).toBe(0);
  await view.console.open("/account/security");
  await page.getByLabel("New password").fill("a first password");
  await button(page, "Set a password").click();
  await toast(page, "Password saved.");
  await page.getByLabel("Current password").waitFor();
  await view.console.open("/account");
  await button(page, "Add an address").click();
  const email = `wallet-${crypto.randomUUID()}@example.com`;
  await page.getByRole("dialog").getByLabel("New address").fill(email);
  await page.getByRole("dialog").getByLabel("Current password").fill("a first password");
  await button(page, "Send the link").click();
  await page.getByText("Not verified").waitFor();
  expect(view.console.complaints()).toEqual([]);
});

test("devices are listed in words, and signed out one by one or all others", async () => {
  const ada = await member(berth);
  const { email, password } = ada.account;
  const elsewhere = async (userAgent: string) => {
    const client = createClient(berth);
    await client.post("/api/auth/callback/credentials", { email, password }, { headers: { "user-agent": userAgent } });
    return client;
  };
  const phone = await elsewhere("Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Version/18.0 Safari/604.1");
  const laptop = await elsewhere("Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0");
  const odd = await elsewhere(HOSTILE);
  await using view = await open("/account/sessions", ada);
  const { page } = view;
  await page.getByText("This device").waitFor();
  await button(page, "Sign out Safari, iPhone").click();
  await toast(page, "Safari, iPhone is signed out");
  await page.getByText("Safari, iPhone", { exact: true }).waitFor({ state: "detached" });
  expect((await phone.get("/api/settings")).status).toBe(401);
  expect((await laptop.get("/api/settings")).status).toBe(200);
  await button(page, "Sign out all others").click();
  await toast(page, "2 devices are signed out");
  for (const client of [laptop, odd]) expect((await client.get("/api/settings")).status).toBe(401);
  expect((await ada.get("/api/settings")).status).toBe(200);
  expect(view.console.complaints()).toEqual([]);
});

test("an API key is shown once, works within its rights, and is revoked unless that is undone", async () => {
  await using view = await open("/account/keys");
  const { page } = view;
  await page.getByText("No key yet").waitFor();
  await button(page, "New key…").click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name").fill(HOSTILE);
  await dialog.getByLabel("Talk to agents").uncheck();
  await dialog.getByLabel("How long it works").selectOption({ label: "A week" });
  await button(page, "Make the key").click();
  const key = ((await dialog.getByRole("group", { name: "API key" }).textContent()) ?? "").trim();
  expect(key).toMatch(/^bk_[\w-]{43}$/);
  const ask = (method: string, path: string) =>
    fetch(berth.web + path, { method, headers: { authorization: `Bearer ${key}` } });
  expect((await ask("GET", "/api/agents")).status).toBe(200);
  expect((await ask("DELETE", "/api/agents/00000000-0000-7000-8000-000000000000")).status).toBe(403);
  await button(page, "I have copied it").click();
  await page.getByText(HOSTILE).waitFor();
  await page.getByText(/reads · last used/).waitFor();
  expect(await page.content()).not.toContain(key);
  await button(page, `Revoke ${HOSTILE}`).click();
  await button(page, "Undo").click();
  await page.getByText(HOSTILE).first().waitFor();
  expect((await ask("GET", "/api/agents")).status).toBe(200);
  await button(page, `Revoke ${HOSTILE}`).click();
  const revoked = page.waitForResponse((response) => response.url().includes("/api/keys/"));
  await page.getByRole("region", { name: "Messages" }).getByRole("button", { name: "Close" }).first().click();
  await revoked;
  expect((await ask("GET", "/api/agents")).status).toBe(401);
  expect(view.console.complaints()).toEqual([]);
});

describe("sign-ins", () => {
  test("link a provider and a wallet, and are removed; another account's is refused", async () => {
    const ada = await member(berth);
    await using console = await openConsole(berth, ada);
    const { page } = console;
    const wallet = await injectWallet(page);
    oidc.person = newGooglePerson();
    await console.open("/account/sign-ins");
    await page.getByText("None is linked", { exact: true }).waitFor();
    await button(page, "Link Harbour ID").click();
    await toast(page, "The sign-in is linked");
    await page.getByText(oidc.person.email).waitFor();
    expect(page.url()).toBe(`${berth.web}/account/sign-ins`);
    wallet.isRefusing = true;
    await button(page, "Link a wallet").click();
    await toast(page, "You did not sign the message. Nothing was linked.");
    wallet.isRefusing = false;
    await button(page, "Link a wallet").click();
    await page.getByText(wallet.address.toLowerCase()).waitFor();
    await button(page, "Remove Harbour ID").click();
    await toast(page, "Harbour ID no longer signs you in.");
    await button(page, "Link Harbour ID").waitFor();
    expect((await ada.get<{ count: number }>("/api/settings/sign-ins")).body.count).toBe(1);

    await ada.delete(`/api/settings/sign-ins/x`, {});
    await using other = await open("/account/sign-ins");
    await other.page.goto("/account/sign-ins?error=ALREADY_LINKED");
    await other.page.getByRole("alert").getByText("another account here").waitFor();
    expect(other.page.url()).toBe(`${berth.web}/account/sign-ins`);
    await other.page.goto(`/account/sign-ins?error=${encodeURIComponent(HOSTILE)}`);
    await other.page.getByText("That did not work. Try again.").waitFor();
  });

  test("link a social identity by its token, and unlink it", async () => {
    await using view = await open("/account/sign-ins");
    const { page, ada } = view;
    await button(page, "Link one…").click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Identity token").fill("not a token");
    await button(page, "Link it").click();
    await dialog.getByText("This token is not valid").waitFor();
    const fidToken = await issuer.token({ claims: { sub: 4711 } });
    // Sent in the same frame in which it was filled in, as password managers do.
    await dialog.getByLabel("Identity token").fill(fidToken);
    await page.keyboard.press("Enter");
    await toast(page, "The social identity is linked");
    await page.getByText("Number 4711").waitFor();
    // The token is not among the requests that the page shows as code.
    await page.getByRole("button", { name: /code/i }).first().click();
    await page.getByText("/api/settings/social").first().waitFor();
    expect(await page.content()).not.toContain(fidToken);
    await page.keyboard.press("Escape");
    await using other = await open("/account/sign-ins");
    await button(other.page, "Link one…").click();
    await other.page.getByLabel("Identity token").fill(fidToken);
    await other.page.keyboard.press("Enter");
    await other.page.getByRole("dialog").getByRole("alert").waitFor();
    await button(page, "Unlink").click();
    await page.getByText("None is linked. An app").waitFor();
    expect((await ada.get<{ fid: null }>("/api/settings/social")).body.fid).toBeNull();
    expect(view.console.complaints()).toEqual([]);
  });

  test("ask for the password when the sign-in is old", async () => {
    await using view = await open("/account/sign-ins");
    const { page } = view;
    await page.route("**/api/settings/sign-ins", async (route) => {
      const { currentPassword } = (route.request().postDataJSON() ?? {}) as { currentPassword?: string };
      if (route.request().method() !== "POST" || currentPassword) return route.continue();
      return route.fulfill({ status: 403, json: { code: "RECENT_SIGN_IN_REQUIRED", error: "Sign in again first." } });
    });
    await button(page, "Link Harbour ID").click();
    const dialog = page.getByRole("dialog", { name: "Confirm that it is you" });
    await dialog.getByLabel("Current password").fill("wrong password");
    await button(page, "Confirm").click();
    await dialog.getByRole("alert").getByText("wrong").waitFor();
    expect(view.console.complaints()).toEqual([]);
  });
});

test("notifications are kept, and shown as before when the server refuses", async () => {
  await using view = await open("/account/notifications");
  const { page, ada } = view;
  const agents = page.getByRole("switch", { name: "Agents" });
  const saved = page.waitForResponse((response) => response.request().method() === "PATCH");
  await agents.click();
  await saved;
  expect(await settingsOf(ada)).toMatchObject({ notifications: { agent: false, security: true } });
  await page.reload();
  expect(await agents.getAttribute("aria-checked")).toBe("false");
  await page.route("**/api/settings", (route) =>
    route.request().method() === "PATCH"
      ? route.fulfill({ status: 503, json: { code: "BACKEND_UNAVAILABLE", error: "Not now." } })
      : route.continue(),
  );
  await agents.click();
  await toast(page, "Not now.");
  expect(await agents.getAttribute("aria-checked")).toBe("false");
});

test("the plan page has credits, and what the referral link brought", async () => {
  const ada = await member(berth);
  const { referralCode } = (await settingsOf(ada)) as { referralCode: string };
  await createClient(berth).signUp({ referralCode } as object);
  await using view = await open("/account/plan", ada);
  await view.page.getByText(`${berth.web}/register?ref=${referralCode}`).waitFor();
  const figure = (label: string) => view.page.locator("dl > div").filter({ hasText: label }).last();
  expect(await figure("People who came").textContent()).toContain("1");
  expect(await figure("Credits from that").textContent()).toContain("10");
  expect(view.console.complaints()).toEqual([]);
});

test("language, theme and time zone are kept in this browser", async () => {
  await using view = await open("/account/appearance");
  const { page } = view;
  await page.getByText("Dark", { exact: true }).click();
  expect(await page.locator("html").getAttribute("data-theme")).toBe("dark");
  await page.getByLabel("Time zone").selectOption("Pacific/Auckland");
  await page.getByRole("heading", { name: "Appearance" }).waitFor();
  expect(await page.getByLabel("Time zone").inputValue()).toBe("Pacific/Auckland");
  await page.getByText("Deutsch").click();
  await page.getByRole("heading", { name: "Aussehen und Zeit" }).waitFor();
  await page.goto("/login");
  expect(await page.locator("html").getAttribute("data-theme")).toBe("dark");
});

test("a page whose data can't be read says why, and how to go on", async () => {
  await using view = await open("/account");
  const { page } = view;
  const refusals = [
    [429, { code: "RATE_LIMITED", error: "Too many requests." }, "Try again in 7 s", { "retry-after": "7" }],
    [503, { code: "NOT_READY", error: "The database is busy." }, "Try again", {}],
  ] as const;
  for (const [status, json, name, headers] of refusals) {
    await page.route("**/api/keys", (route) => route.fulfill({ status, json, headers }));
    await page.goto("/account/keys");
    await page.getByRole("alert").getByRole("button", { name }).waitFor();
    await page.unroute("**/api/keys");
  }
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByText("No key yet").waitFor();
  await view.console.open("/account/nothing-here");
  await page.getByRole("heading", { name: "There is no such page" }).waitFor();
});

test("sign out ends the session", async () => {
  await using view = await open("/account");
  await button(view.page, "Sign out").first().click();
  await view.page.waitForURL(/\/login/);
  expect((await view.ada.get("/api/settings")).status).toBe(401);
});

describe("is accessible:", () => {
  let ada: Client;
  beforeAll(async () => {
    ada = await member(berth);
    for (const name of ["laptop", HOSTILE]) await ada.post("/api/keys", { name, scopes: ["read"] });
    await createClient(berth).post("/api/auth/callback/credentials", ada.account);
  });

  test.each(["", "/security", "/sign-ins", "/sessions", "/keys", "/notifications", "/plan", "/appearance"])(
    "/account%s",
    async (path) => {
      await expectAccessible(berth, ada, `/account${path}`, {
        name: `account${path.replace("/", "-")}`,
        prepare: (page) => page.locator(".skeleton").first().waitFor({ state: "detached" }),
      });
    },
  );

  test("the steps of turning two-factor on", async () => {
    const bob = await member(berth);
    const begin = async (page: Page) => {
      await page.locator("main section header button").last().click();
      await page.locator("dialog input[type=password]").fill(bob.account.password);
      await page.locator("dialog [type=submit]").click();
      await page.locator("dialog [role=img]").waitFor();
    };
    await expectAccessible(berth, bob, "/account/security", { name: "account-security-qr", prepare: begin });
    await expectAccessible(berth, bob, "/account/security", {
      name: "account-security-codes",
      async prepare(page) {
        await begin(page);
        const secret = ((await page.locator("dialog code").textContent()) ?? "").replaceAll(" ", "");
        await page.locator("dialog [inputmode=numeric]").fill(codeOf(secret));
        await page.locator("dialog [type=submit]").click();
        const [code] = ((await page.locator("dialog pre").textContent()) ?? "").split("\n");
        // Off again for the next view; the dialog stays as it is.
        await bob.delete("/api/settings/2fa", { password: bob.account.password, code });
      },
    });
  });

  test.each([
    ["deleting", "", "main section button"],
    ["a new key", "/keys", "main section header button"],
    ["turning two-factor on", "/security", "main section header button"],
  ])("the dialog of %s", async (_, path, trigger) => {
    await expectAccessible(berth, ada, `/account${path}`, {
      name: `account${path.replace("/", "-")}-dialog`,
      async prepare(page) {
        await page.locator(trigger).last().click();
        await page.getByRole("dialog").waitFor();
      },
    });
  });
});
