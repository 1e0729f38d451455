// Connecting another assistant in Chromium: the page that asks, the list of connected apps, and their end.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Berth, startBerth } from "../support/berth.ts";
import { member } from "../support/members.ts";
import { openConsole, VIEWS } from "./support/console.ts";

let berth: Berth;
let redirect: { url: string; arrived: URL[]; stop(): Promise<void> };
beforeAll(async () => {
  berth = await startBerth({ env: { RATE_LIMITS: "off", BOT_DETECTION: "off" } });
  await berth.restart({ keepPorts: true, env: { BASE_URL: berth.web } });
  const arrived: URL[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch({ url }) {
      arrived.push(new URL(url));
      return new Response("<title>App</title><h1>Connected</h1>", { headers: { "content-type": "text/html" } });
    },
  });
  redirect = { url: `http://127.0.0.1:${server.port}/back`, arrived, stop: () => server.stop(true) };
});
afterAll(async () => {
  await redirect?.stop();
  await berth?.[Symbol.asyncDispose]();
});

const VERIFIER = "v".repeat(43);
const CHALLENGE = new Bun.CryptoHasher("sha256").update(VERIFIER).digest("base64url");

async function authorizeAddress(name: string): Promise<{ clientId: string; path: string }> {
  const answer = await fetch(`${berth.web}/api/oauth/register`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ client_name: name, redirect_uris: [redirect.url] }),
  });
  const { client_id: clientId } = (await answer.json()) as { client_id: string };
  const query = new URLSearchParams({
    response_type: "code",
    client_id: clientId,
    redirect_uri: redirect.url,
    code_challenge: CHALLENGE,
    code_challenge_method: "S256",
    state: "xyz",
  });
  return { clientId, path: `/oauth/authorize?${query}` };
}

const HOSTILE = `<img src=x onerror="document.title='hacked'">`;

test("an app is connected after a question, listed, and ended", async () => {
  const ada = await member(berth);
  await using console = await openConsole(berth, ada);
  const { page } = console;
  const { clientId, path } = await authorizeAddress(HOSTILE);
  await page.goto(path);
  await page.getByRole("heading", { name: `Connect ${HOSTILE}?` }).waitFor();
  await page.getByText("Nobody vouches for its name.").waitFor();
  await page.getByText(ada.account.email).waitFor();
  await page.getByLabel("Read your conversations").uncheck();
  expect(await page.getByLabel("Treat what it writes as my own words").isChecked()).toBe(false);
  await page.getByRole("button", { name: "Connect", exact: true }).click();
  await page.getByRole("heading", { name: "Connected" }).waitFor();
  const code = redirect.arrived.find(({ pathname }) => pathname === "/back")?.searchParams.get("code") ?? "";
  const tokens = await fetch(`${berth.web}/api/oauth/token`, {
    method: "POST",
    body: new URLSearchParams({ grant_type: "authorization_code", client_id: clientId, code, code_verifier: VERIFIER }),
  });
  expect(await tokens.json()).toMatchObject({ scope: "chat write" });

  await console.open("/account/assistants");
  await page.getByText(`${berth.web}/mcp`).first().waitFor();
  await page.getByText(HOSTILE).waitFor();
  await page.getByRole("button", { name: `Disconnect ${HOSTILE}` }).click();
  const ended = page.waitForResponse((response) => response.url().includes("/api/connected-apps/"));
  await page.getByRole("region", { name: "Messages" }).getByRole("button", { name: "Close" }).first().click();
  await ended;
  await page.getByText("None yet").waitFor();
  // The only other site is the app's.
  expect(console.complaints().filter((one) => !one.startsWith(`foreign: ${redirect.url}`))).toEqual([]);
});

test("a refusal goes back to the app, and a link without an app goes nowhere", async () => {
  const ada = await member(berth);
  await using console = await openConsole(berth, ada);
  const { page } = console;
  await page.goto((await authorizeAddress("Desk")).path);
  await page.getByRole("button", { name: "No, go back" }).click();
  await page.waitForURL(/error=access_denied/);
  await page.goto("/oauth/authorize?client_id=nobody&redirect_uri=https://evil.example/");
  await page.getByRole("heading", { name: "This can't be connected" }).waitFor();
});

test("somebody who is not signed in signs in first, and comes back", async () => {
  const ada = await member(berth);
  await using console = await openConsole(berth);
  const { page } = console;
  await page.goto((await authorizeAddress("Desk")).path);
  await page.getByRole("link", { name: "Sign in" }).click();
  await page.getByRole("textbox", { name: "Email" }).fill(ada.account.email);
  await page.getByLabel("Password", { exact: true }).fill(ada.account.password);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  await page.getByRole("heading", { name: "Connect Desk?" }).waitFor();
});

test.each(VIEWS)("accessible: $theme, $width, $language", async (view) => {
  const ada = await member(berth);
  await using console = await openConsole(berth, ada, view);
  const { page } = console;
  await page.goto((await authorizeAddress("Desk assistant")).path);
  await page.locator("#ask").waitFor();
  await console.shoot(`consent-${view.theme}-${view.width}`);
  expect(await console.violations()).toEqual([]);
  await console.open("/account/assistants?way=key");
  await page.locator("pre").first().waitFor();
  await console.shoot(`assistants-${view.theme}-${view.width}`);
  expect(await console.violations()).toEqual([]);
});
