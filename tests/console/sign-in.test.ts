// The forms in Chromium: registering, signing in by every way, codes, what the forms say about mistakes, and where they lead.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import type { Language } from "../../web/languages/languages.ts";
import { type Berth, startBerth } from "../support/berth.ts";
import { createClient } from "../support/client.ts";
import { type Mailbox, openMailbox } from "../support/mailbox.ts";
import { member } from "../support/members.ts";
import { type Oidc, startOidc } from "../support/oidc.ts";
import { newGooglePerson } from "../support/providers.ts";
import { expectAccessible, openConsole } from "./support/console.ts";
import { codeOf, enableTwoFactor, injectWallet } from "./support/credentials.ts";

/** What an extension may call itself. */
const HOSTILE_NAME = "<img src=x onerror=hacked=1>$& javascript:alert(1)";

let berth: Berth;
let oidc: Oidc;
let mailbox: Mailbox;

beforeAll(async () => {
  const limits = { "sign-in": "3/15m", "sign-up": "100/m" };
  berth = await startBerth({ env: { RATE_LIMITS: JSON.stringify(limits), BOT_DETECTION: "off" } });
  mailbox = await openMailbox();
  oidc = await startOidc([`${berth.web}/api/auth/callback/oidc`]);
  await berth.restart({
    keepPorts: true,
    env: {
      BASE_URL: berth.web,
      SMTP_URL: mailbox.url,
      OIDC_ISSUER: oidc.issuer,
      OIDC_CLIENT_ID: oidc.clientId,
      OIDC_CLIENT_SECRET: oidc.clientSecret,
      OIDC_NAME: "Harbour <ID>",
      // Nothing listens there.
      OIDC_2_ISSUER: "http://127.0.0.1:1",
      OIDC_2_CLIENT_ID: "berth",
      OIDC_2_CLIENT_SECRET: "a secret",
      OIDC_2_NAME: "Lighthouse",
    },
  });
});
afterAll(async () => {
  await berth?.[Symbol.asyncDispose]();
  await oidc?.[Symbol.asyncDispose]();
  await mailbox?.[Symbol.asyncDispose]();
});

const visitor = (language: Language = "en") => openConsole(berth, undefined, { theme: "light", width: 1280, language });
const signInAs = async (page: Page, { email, password }: { email: string; password: string }) => {
  await page.getByLabel("Email").first().fill(email);
  await page.getByLabel("Password", { exact: true }).fill(password);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
};
const focused = (page: Page) => page.evaluate<string>("document.activeElement.id");
const isSignedIn = async (page: Page) =>
  (await page.request.get("/api/auth/session")).json().then(({ user }) => user !== null);

test("a fresh service says where the link of the first admin is; the link leads to the guided path", async () => {
  await using fresh = await startBerth();
  await using console = await openConsole(fresh);
  await console.open("/");
  await console.page.getByText("printed a link").waitFor();
  // A link that is cut off, or from before a restart.
  await console.open("/setup?token=cut-off");
  await console.page.getByText("This link is not whole").waitFor();
  expect(await console.page.locator("form").count()).toBe(0);
  const [, link = ""] = /(\/setup\?token=[\w-]+)/.exec(fresh.output().stdout + fresh.output().stderr) ?? [];
  await console.open(link);
  await console.page.getByLabel("Email").fill("ada@example.com");
  await console.page.getByLabel("Password", { exact: true }).fill("password");
  await console.page.getByRole("button", { name: "Create the admin account" }).click();
  await console.page.getByText(/^This is one of the most common passwords/).waitFor();
  await console.page.getByLabel("Password", { exact: true }).fill("correct horse battery");
  await console.page.getByRole("button", { name: "Create the admin account" }).click();
  await console.page.waitForURL(/\/welcome/);
  await console.open(link);
  await console.page.getByText("You are signed in as ada@example.com.").waitFor();
  await console.page.getByRole("link", { name: "Continue" }).click();
  await console.page.waitForURL(/\/welcome/);
  expect(console.complaints()).toEqual([]);
  await using other = await openConsole(fresh);
  await other.open("/");
  await other.page.getByRole("link", { name: "Sign in" }).waitFor();
  await other.open(link);
  await other.page.getByRole("heading", { name: "This Berth has its admin" }).waitFor();
  expect(await other.page.locator("form").count()).toBe(0);
  // Nothing is offered beside the password here, so nothing says "or".
  await other.open("/login");
  expect(await other.page.getByText("or with your email address").isVisible()).toBe(false);
});

describe("registering", () => {
  test("says below each field what is wrong, focuses the first, and then leads where the visitor wanted to go", async () => {
    await using console = await visitor();
    const { page } = console;
    const { account } = await member(berth);
    await console.open("/register?next=%2Fagents%3Fview%3Dlist&ref=nobody-has-it");
    const submit = page.getByRole("button", { name: "Create the account" });
    await submit.click();
    expect(await focused(page)).toBe("email");
    await page.getByText("Fill this in.").first().waitFor();
    await page.getByLabel("Email").fill("not an address");
    await page.getByLabel("Password", { exact: true }).fill("short");
    await submit.click();
    await page.getByText("This is not an email address.").waitFor();
    await page.getByText("Too short.").waitFor();
    expect(await page.locator("#email").getAttribute("aria-invalid")).toBe("true");
    await page.getByLabel("Email").fill(account.email);
    await page.getByLabel("Password", { exact: true }).fill("password1");
    expect(await page.locator("#rules .met").count()).toBe(2);
    await submit.click();
    await page.locator("#password-error").filter({ hasText: "common" }).waitFor();
    expect(await focused(page)).toBe("password");
    await page.getByLabel("Password", { exact: true }).fill("correct horse battery");
    await submit.click();
    await page.locator("#referral-code-error").filter({ hasText: "referral code" }).waitFor();
    await page.getByLabel("Referral code").fill("");
    await submit.click();
    await page.locator("#email-error").filter({ hasText: "exists already" }).waitFor();
    await page.getByLabel("Email").fill(`new-${crypto.randomUUID()}@example.com`);
    await submit.click();
    await page.waitForURL(`${berth.web}/agents?view=list`);
    expect(await isSignedIn(page)).toBe(true);
    expect(console.complaints()).toEqual([]);
  });

  test("shows a password on request, allows pasting, and tells of caps lock", async () => {
    await using console = await visitor("de");
    const { page } = console;
    await console.open("/register");
    const password = page.locator("#password");
    expect(await password.getAttribute("autocomplete")).toBe("new-password");
    await password.fill("secret words");
    await page.getByRole("button", { name: "Passwort zeigen" }).click();
    expect(await password.getAttribute("type")).toBe("text");
    await page.getByRole("button", { name: "Passwort verbergen" }).click();
    expect(await password.getAttribute("type")).toBe("password");
    const event = `new KeyboardEvent("keydown", { key: "A", modifierCapsLock: true })`;
    await page.evaluate(`document.getElementById("password").dispatchEvent(${event})`);
    await page.getByText("Die Feststelltaste ist an.").waitFor();
  });

  test.each([
    ["closed", "No new accounts here", 0],
    ["invite", "By invitation only", 1],
  ] as const)("with SIGN_UP=%s says so in place of the form", async (mode, heading, forms) => {
    await using other = await startBerth({ env: { SIGN_UP: mode } });
    await using console = await openConsole(other);
    await console.open("/register");
    await console.page.getByRole("heading", { name: heading }).waitFor();
    expect(await console.page.locator("form:visible").count()).toBe(0);
    await console.open("/register?invitation=t0k3n&email=bob@example.com");
    expect(await console.page.locator("form:visible").count()).toBe(forms);
    expect(console.complaints()).toEqual([]);
  });
});

describe("signing in", () => {
  test("with a wrong password says so; too many tries say how long to wait", async () => {
    const { account } = await member(berth);
    await using console = await visitor();
    await console.open("/login");
    const wrong = { ...account, password: "wrong password" };
    await signInAs(console.page, wrong);
    await console.page.locator("#status").filter({ hasText: "Email or password is wrong." }).waitFor();
    for (let each = 0; each < 3; each++) {
      await signInAs(console.page, wrong);
      await console.page.locator("#credentials [type=submit]:not([aria-busy])").waitFor();
    }
    await console.page
      .locator("#status")
      .filter({ hasText: /Try again in \d+ (minutes|seconds)\./ })
      .waitFor();
    expect(console.complaints()).toEqual([]);
  });

  test("leads to an address of Berth only", async () => {
    const { account } = await member(berth);
    const targets = [
      ["/account?tab=1", "/account?tab=1"],
      ["//evil.example/x", "/"],
      ["https://evil.example/", "/"],
      ["javascript:alert(1)", "/"],
      ["/.//evil.example", "/"],
    ];
    for (const [next = "", expected = ""] of targets) {
      await using console = await visitor();
      await console.open(`/login?next=${encodeURIComponent(next)}`);
      await signInAs(console.page, account);
      await console.page.waitForURL(berth.web + expected);
    }
  });

  test("asks for a code of the app, or a recovery code, after the password", async () => {
    const ada = await member(berth);
    const { secret, recoveryCodes } = await enableTwoFactor(ada);
    await using console = await visitor();
    const { page } = console;
    await console.open("/login?next=%2Fagents");
    await signInAs(page, ada.account);
    await page.getByRole("heading", { name: "One more step" }).waitFor();
    expect(await focused(page)).toBe("totp");
    await page.getByLabel("Code", { exact: true }).fill("000000");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.locator("#totp-error").filter({ hasText: "wrong" }).waitFor();
    await page.getByRole("button", { name: "Use a recovery code" }).click();
    await page.getByLabel("Recovery code").fill(recoveryCodes[0] ?? "");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.waitForURL(`${berth.web}/agents`);
    expect(codeOf(secret)).toMatch(/^\d{6}$/);
    expect(console.complaints()).toEqual([]);
  });

  test("with another provider returns to the wanted page; a refusal there is explained", async () => {
    await using console = await visitor();
    const { page } = console;
    oidc.person = newGooglePerson();
    await console.open("/login?next=%2Fagents%3Fq%3D1");
    await page.getByRole("link", { name: "Continue with Harbour <ID>" }).click();
    await page.waitForURL(`${berth.web}/agents?q=1`);
    oidc.person = undefined;
    await using again = await visitor();
    await again.open("/login");
    await again.page.getByRole("link", { name: "Continue with Harbour <ID>" }).click();
    await again.page.getByText("You did not let the provider tell Berth who you are.").waitFor();
  });

  test("says on the button of a provider that it can't be reached, and a wrong secret by its name", async () => {
    for (const [language, note, text] of [
      ["en", "can't be reached right now", "The provider does not accept this Berth"],
      ["de", "gerade nicht erreichbar", "Der Anbieter erkennt dieses Berth nicht an"],
    ] as const) {
      await using console = await openConsole(berth, undefined, { theme: "dark", width: 390, language });
      const { page } = console;
      const link = page.locator('[data-provider="oidc_2"]');
      await console.open("/login");
      await link.getByText(note).waitFor();
      expect(await page.locator('[data-provider="oidc"] small').count()).toBe(0);
      await console.open("/login?error=PROVIDER_MISCONFIGURED");
      await page.getByText(text).waitFor();
    }
    const prepare = (page: Page) => page.locator('[data-provider="oidc_2"] small').waitFor();
    await expectAccessible(berth, undefined, "/login", { name: "login-unreachable", prepare });
  });

  test("with a wallet of the browser signs a message; a refusal changes nothing", async () => {
    await using console = await visitor();
    const { page } = console;
    const wallet = await injectWallet(page);
    await console.open("/login?next=%2Fagents");
    wallet.isRefusing = true;
    await page.getByRole("button", { name: "Continue with a wallet" }).click();
    await page.getByText("You did not sign the message.").waitFor();
    expect(await isSignedIn(page)).toBe(false);
    wallet.isRefusing = false;
    await page.getByRole("button", { name: "Continue with a wallet" }).click();
    await page.waitForURL(`${berth.web}/agents`);
    expect(wallet.messages.at(-1)).toContain(`${new URL(berth.web).host} wants you to sign in`);
    expect(console.complaints()).toEqual([]);
  });

  test("with one of several wallets that announce themselves, whose names are only text", async () => {
    await using console = await visitor();
    const { page } = console;
    const [first, second] = [await injectWallet(page, "Harbour Wallet"), await injectWallet(page, HOSTILE_NAME)];
    // An extension of the old way beside them is one of those that announce themselves.
    await injectWallet(page);
    await console.open("/login?next=%2Faccount%2Fsign-ins");
    expect(await page.getByRole("button", { name: "Continue with a wallet" }).count()).toBe(0);
    await page.getByRole("button", { name: "Continue with Harbour Wallet" }).waitFor();
    await console.shoot("sign-in-wallets");
    await page.getByRole("button", { name: `Continue with ${HOSTILE_NAME.slice(0, 40)}` }).click();
    await page.waitForURL(`${berth.web}/account/sign-ins`);
    expect([first.messages.length, second.messages.length]).toEqual([0, 1]);
    await page.getByRole("button", { name: "Link Harbour Wallet" }).click();
    await page.getByText(first.address.toLowerCase()).waitFor();
    expect(await page.locator("main img").count()).toBe(0);
    expect(console.complaints()).toEqual([]);
  });

  test("says that Berth is not reachable, and greets who is signed in already", async () => {
    const ada = await member(berth);
    await using console = await visitor();
    await console.open("/login");
    await console.context.setOffline(true);
    await signInAs(console.page, ada.account);
    await console.page.getByText("You are offline.").waitFor();
    await console.context.setOffline(false);
    await using known = await openConsole(berth, ada);
    await known.open("/login");
    await known.page.getByText(`You are signed in as ${ada.account.email}.`).waitFor();
  });
});

test("a forgotten password: link by mail, new password, sign-in", async () => {
  const { account } = await member(berth);
  await using console = await visitor();
  const { page } = console;
  await console.open("/login");
  await page.getByRole("link", { name: "Forgot your password?" }).click();
  await page.getByLabel("Email").last().fill(account.email);
  await page.getByRole("button", { name: "Send the link" }).click();
  await page.getByRole("heading", { name: "Look into your mailbox" }).waitFor();
  await page.goBack();
  await page.getByRole("heading", { name: "Sign in to Berth" }).waitFor();
  await console.open("/reset-password?token=nothing");
  await page.getByLabel("New password").fill("a new password");
  await page.getByRole("button", { name: "Set the password" }).click();
  await page.locator("#status.bad").waitFor();
  await console.open(`/reset-password?token=${await mailbox.token(account.email, "reset-password")}`);
  await page.getByLabel("New password").fill("a new password");
  await page.getByRole("button", { name: "Set the password" }).click();
  await page.getByRole("heading", { name: "Your new password is set" }).waitFor();
  await page.getByRole("link", { name: "Sign in" }).click();
  await signInAs(page, { ...account, password: "a new password" });
  await page.waitForURL(`${berth.web}/`);
  expect(await isSignedIn(page)).toBe(true);
  expect(console.complaints()).toEqual([]);
});

test("without a mail server, nobody is sent to an empty mailbox", async () => {
  await using silent = await startBerth({ env: { BOT_DETECTION: "off" } });
  await using console = await openConsole(silent);
  const { page } = console;
  await console.open("/login#forgot");
  await page.getByText("This Berth sends no mails yet").waitFor();
  await page.getByLabel("Email").last().fill("ada@example.com");
  await page.getByRole("button", { name: "Send the link" }).click();
  await page.getByRole("heading", { name: "Ask whoever runs this Berth" }).waitFor();
  expect(await page.getByText("Look into your mailbox").isVisible()).toBe(false);
  expect(console.complaints()).toEqual([]);
});

test("the forms are accessible with their errors", async () => {
  await expectAccessible(berth, undefined, "/register?ref=friend", {
    name: "form-register",
    async prepare(page) {
      await page.locator("#password").fill("short");
      await page.locator("#form [type=submit]").click();
      await page.locator("#email[aria-invalid]").waitFor();
    },
  });
  await expectAccessible(berth, undefined, "/login?step=code", { name: "form-code" });
  await expectAccessible(berth, undefined, "/login?error=SIGN_IN_FAILED", {
    name: "form-login",
    prepare: async (page) => void (await injectWallet(page).then(() => page.reload())),
  });
  const ada = createClient(berth);
  await ada.join();
  await expectAccessible(berth, ada, "/login", {
    name: "form-known",
    prepare: (page) => page.locator("#already").waitFor(),
  });
});
