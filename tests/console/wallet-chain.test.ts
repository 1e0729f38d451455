// The wallet's page on a real chain: money in, out, refused, approved, over a dead node and a killed service.

import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { type Anvil, startAnvil } from "../support/anvil.ts";
import { type Berth, startBerth } from "../support/berth.ts";
import type { Client } from "../support/client.ts";
import { member } from "../support/members.ts";
import { type RpcProxy, startRpcProxy } from "../support/rpc-proxy.ts";
import { deployToken, freshAddress, giveEther, type Token } from "../support/tokens.ts";
import { expectAccessible, openConsole } from "./support/console.ts";
import { scanQr } from "./support/qr.ts";

const USD = 1_000_000n;
let chain: Anvil;
let rpc: RpcProxy;
let usd: Token;
let berth: Berth;
let ada: Client;
/** Her own wallet's. */
let address = "";

beforeAll(async () => {
  chain = await startAnvil({ chainId: 84_532 });
  [rpc, usd] = [startRpcProxy(chain.url, { isAutomining: () => true }), await deployToken(chain)];
  // The same node stands in for the main network, whose id it does not have: a network that can't be asked.
  const env = {
    TESTNET_RPC_URL: rpc.url,
    MAINNET_RPC_URL: rpc.url,
    STABLECOIN_ADDRESS_TESTNET: usd.address,
    RATE_LIMITS: "off",
  };
  berth = await startBerth({ env });
  ada = await member(berth);
});
beforeEach(() => rpc.pass());
afterAll(async () => {
  await berth?.[Symbol.asyncDispose]();
  await rpc?.stop();
  await chain?.[Symbol.asyncDispose]();
});

async function fillIn(page: Page, to: string, amount: string) {
  await page.getByRole("button", { name: "Send", exact: true }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("To").fill(to);
  await dialog.getByLabel("Amount in US dollars").fill(amount);
  await dialog.getByRole("button", { name: "Send", exact: true }).click();
  return dialog;
}

/** Sends, expects the reason of a refusal in the dialog, and closes it. */
async function expectRefused(page: Page, amount: string, reason: string | RegExp, to: string = freshAddress()) {
  const dialog = await fillIn(page, to, amount);
  await dialog.getByRole("alert").getByText(reason).waitFor();
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await dialog.waitFor({ state: "detached" });
}

const payments = (page: Page) => page.getByRole("list", { name: "Payments" }).getByRole("listitem");

test("a new wallet says how money comes in, and its code is its address", async () => {
  await using console = await openConsole(berth, ada);
  const { page } = console;
  await console.open("/wallet");
  await page.getByRole("button", { name: "Create a wallet" }).click();
  await page.getByText("There is nothing in it yet.", { exact: false }).waitFor();
  await page.getByText("on the network Base Sepolia and no other", { exact: false }).waitFor();
  address = await scanQr(page.getByRole("img", { name: "QR code of the wallet's address" }));
  expect(address).toBe((await ada.get<{ address: string }>("/api/wallet")).body.address);
  expect(await page.getByRole("link", { name: "All that happened on the chain" }).getAttribute("href")).toBe(
    `https://sepolia.basescan.org/address/${address}`,
  );

  await usd.mint(address, 20n * USD);
  await page.reload();
  await page.getByText("$20.00").waitFor();
  await page.getByRole("button", { name: "Send", exact: true }).click();
  await page.getByRole("dialog").getByText("there is none in this wallet", { exact: false }).waitFor();
  await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
  await expectRefused(page, "1.50", "too little ether");
  await giveEther(chain, address);
  await page.reload();
  await page.getByText("Ether", { exact: true }).locator("..").getByText("1", { exact: true }).waitFor();
  expect(console.complaints()).toEqual([]);
});

test("what is sent arrives, and is listed with its token, its fee and its transaction", async () => {
  await using console = await openConsole(berth, ada);
  const { page } = console;
  await console.open("/wallet");
  const to = freshAddress();
  await fillIn(page, to, "1,50");
  await page.getByText("Sent. The chain has confirmed it.").waitFor();
  expect(await usd.balanceOf(to)).toBe(1_500_000n);
  const payment = payments(page).first();
  await payment.getByText("Sent: 1.5 USDC").waitFor();
  await payment.getByText(/fee 0\.\d+ ether/).waitFor();
  await payment.getByText("Done").waitFor();
  const href = await payment.getByRole("link", { name: "on the chain" }).getAttribute("href");
  const hash = href?.replace("https://sepolia.basescan.org/tx/", "") as `0x${string}`;
  expect(await chain.client.getTransactionReceipt({ hash })).toMatchObject({ status: "success" });
  await page.getByText("$18.50").first().waitFor();

  await expectRefused(page, "11", "The limit of one spend is 10 USD.");
  await expectRefused(page, "1", "An address is 0x and 40 hex digits", "0x12");
  await page.getByLabel("At most at once, in USD").fill("30");
  await page.getByRole("button", { name: "Save limits" }).click();
  await page.getByText("Limits saved.").waitFor();
  await expectRefused(page, "25", "The wallet has too little of this token.");
  expect(await chain.client.getTransactionCount({ address: address as `0x${string}` })).toBe(1);
  expect(console.complaints()).toEqual([]);
});

test("a payment above the limit for asking is made once it is approved on the page", async () => {
  await using console = await openConsole(berth, ada);
  const { page } = console;
  await console.open("/wallet");
  await page.getByLabel("Ask me above, in USD").fill("2");
  await page.getByRole("button", { name: "Save limits" }).click();
  await page.getByText("Limits saved.").waitFor();
  const to = freshAddress();
  await fillIn(page, to, "3");
  const waiting = page.getByRole("article").filter({ hasText: to });
  await waiting.getByRole("heading", { name: "Send: 3 USDC" }).waitFor();
  expect(await usd.balanceOf(to)).toBe(0n);
  await waiting.getByRole("button", { name: "Approve" }).click();
  await payments(page).first().getByText("Sent: 3 USDC").waitFor();
  expect(await usd.balanceOf(to)).toBe(3n * USD);
});

test("a dead node is named where the balance would be, and nothing is sent or lost meanwhile", async () => {
  await using console = await openConsole(berth, ada);
  const { page } = console;
  rpc.fail();
  await console.open("/wallet");
  await page.getByRole("alert").getByText("The chain can't be asked right now.").waitFor();
  await expectRefused(page, "1", "The chain can't be asked right now.");
  rpc.pass();
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByText("$15.50").waitFor();
  expect(await payments(page).count()).toBe(2);
});

test("a kill between signing and sending: the page catches up by itself, and sending again pays only once", async () => {
  await using console = await openConsole(berth, ada);
  const { page } = console;
  await console.open("/wallet");
  const to = freshAddress();
  const held = rpc.hold("eth_sendRawTransaction");
  const dialog = await fillIn(page, to, "1.25");
  await held.reached;
  await berth.kill();
  await dialog.getByText("it may have been sent", { exact: false }).waitFor();
  rpc.pass();
  await berth.restart({ keepPorts: true });
  // Without a click or a reload: the queue sends what was signed, and the page reads it again.
  await payments(page).first().getByText("Sent: 1.25 USDC").waitFor();
  await payments(page).first().getByText("Done").waitFor();
  await dialog.getByRole("button", { name: "Try again" }).click();
  await page.getByText("Sent. The chain has confirmed it.").waitFor();
  expect(await usd.balanceOf(to)).toBe(1_250_000n);
  expect(await payments(page).count()).toBe(3);
  expect(await page.getByText("Berth can't be reached.", { exact: false }).count()).toBe(0);
});

test("an imported wallet is listed with its balance and can be sent from; its key appears nowhere", async () => {
  await using console = await openConsole(berth, ada);
  const { page } = console;
  const key = generatePrivateKey();
  const imported = privateKeyToAddress(key);
  await usd.mint(imported, 5n * USD);
  await giveEther(chain, imported);
  await console.open("/wallet");
  await page.getByRole("button", { name: "Import a wallet" }).click();
  const dialog = page.getByRole("dialog");
  const submit = dialog.getByRole("button", { name: "Import", exact: true });
  await dialog.getByLabel("Private key").fill(`${key.slice(0, -1)}z`);
  await dialog.getByText("A private key is 0x and 64 digits", { exact: false }).waitFor();
  expect(await submit.isDisabled()).toBe(true);
  await dialog.getByLabel("Private key").fill(key.slice(2));
  await submit.click();
  const row = page.getByRole("list", { name: "More wallets" }).getByRole("listitem");
  await row.getByText("$5.00").waitFor();
  await row.getByText("imported").waitFor();

  const to = freshAddress();
  await row.getByRole("button", { name: /^Send from/ }).click();
  await page.getByRole("dialog").getByLabel("To").fill(to);
  await page.getByRole("dialog").getByLabel("Amount in US dollars").fill("2");
  await page.getByRole("dialog").getByRole("button", { name: "Send", exact: true }).click();
  await row.getByText("$3.00").waitFor();
  expect(await usd.balanceOf(to)).toBe(2n * USD);

  await page.getByRole("button", { name: "This page as code" }).click();
  await page.getByText("/api/wallet/managed").first().waitFor();
  expect(await page.content()).not.toContain(key.slice(2));
  const { stdout, stderr } = berth.output();
  expect(stdout + stderr).not.toContain(key.slice(2));
});

test("the main network is shown apart, and a stranger sees none of these wallets", async () => {
  await using console = await openConsole(berth, ada);
  const { page } = console;
  await console.open("/wallet");
  await page.getByRole("group", { name: "Network" }).getByText("Main network").click();
  await page.getByText("Base, a main network: this is real money.").waitFor();
  expect(new URL(page.url()).searchParams.get("network")).toBe("main");
  await page.getByRole("button", { name: "Send", exact: true }).click();
  await page.getByRole("dialog").getByText("This is real money.").waitFor();
  const eve = await member(berth);
  expect((await eve.get("/api/wallets")).body).toEqual({ wallets: [], count: 0 });
  expect(await eve.get(`/api/wallets/${address}`)).toMatchObject({ status: 404, body: { code: "NO_WALLET" } });
});

test("the page with money, a payment, an imported wallet and its dialog is accessible", async () => {
  await expectAccessible(berth, ada, "/wallet", {
    name: "wallet-chain",
    prepare: (page) => page.getByText(/14[.,]25/).waitFor(),
  });
  await expectAccessible(berth, ada, "/wallet", {
    name: "wallet-import",
    async prepare(page) {
      await page.getByRole("button", { name: /^(Import a wallet|Wallet importieren)$/ }).click();
      await page.getByRole("dialog").waitFor();
    },
  });
  await expectAccessible(berth, ada, "/wallet?network=main", {
    name: "wallet-main-send",
    async prepare(page) {
      await page.getByRole("button", { name: /^(Send|Senden)$/ }).click();
      await page.getByRole("dialog").waitFor();
    },
  });
});
