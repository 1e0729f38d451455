// The wallet in Chromium: made with one click, its limits and the switch that stops all spending, payments that wait.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { openConnection } from "../../src/kernel/database/connection.ts";
import { type Berth, startBerth } from "../support/berth.ts";
import type { Client } from "../support/client.ts";
import { member } from "../support/members.ts";
import { expectAccessible, openConsole } from "./support/console.ts";

const RECIPIENT = "0x52908400098527886E0F7030069857D2E4169EE7";
const DECIMALS_SELECTOR = "0x313ce567";

let chain: ReturnType<typeof Bun.serve>;
let berth: Berth;
let ada: Client;

interface Call {
  id: number;
  method: string;
  params?: [{ data?: string }];
}

/** A node that knows balances: 42.50 of the stablecoin, 0.1 ether. */
function answer({ id, method, params }: Call) {
  const word = (value: number) => `0x${value.toString(16).padStart(64, "0")}`;
  const isDecimals = params?.[0]?.data?.startsWith(DECIMALS_SELECTOR);
  const results: Record<string, string> = {
    eth_chainId: "0x14a34",
    eth_getBalance: "0x16345785d8a0000",
    eth_call: word(isDecimals ? 6 : 42_500_000),
    eth_blockNumber: "0x10",
    eth_getTransactionCount: "0x0",
    eth_getCode: "0x00",
  };
  return { jsonrpc: "2.0", id, result: results[method] ?? null };
}

/** A payment of an agent above the limit for asking: to make one, it would need a chain with money. */
function addWaitingSpend(): void {
  const database = openConnection(join(berth.dir, "data/berth.db"));
  const [wallet] = database.run("SELECT id, user_id, address FROM wallets").rows;
  if (!wallet) throw new Error("There is no wallet.");
  const sql = `INSERT INTO wallet_spends (id, user_id, wallet_id, request_hash, kind, network, address, asset, units, usd, amount,
      recipient, details, plan, state, created_at, reserved_at, updated_at)
    VALUES (?, ?, ?, '', 'send', 'testnet_chain', ?, 'USDC', '2500000', 2500000, '2.5', ?, '{}', '{}', 'waiting', ?, ?, ?)`;
  const now = Date.now();
  const { id = "", user_id: userId = "", address = "" } = wallet;
  database.run(sql, [Bun.randomUUIDv7(), userId, id, address, RECIPIENT, now, now, now]);
  database.close();
}

beforeAll(async () => {
  chain = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const calls = (await request.json()) as Call | Call[];
      return Response.json(Array.isArray(calls) ? calls.map(answer) : answer(calls));
    },
  });
  berth = await startBerth({ env: { TESTNET_RPC_URL: chain.url.href, MAINNET_RPC_URL: chain.url.href } });
  ada = await member(berth);
});
afterAll(async () => {
  await berth?.[Symbol.asyncDispose]();
  await chain?.stop(true);
});

test("a wallet is made, shows its balance and address, and keeps its limits", async () => {
  await using console = await openConsole(berth, ada);
  const { page } = console;
  await console.open("/wallet");
  await page.getByRole("button", { name: "Create a wallet" }).click();
  await page.getByText("$42.50").waitFor();
  await page.getByRole("img", { name: "QR code of the wallet's address" }).waitFor();
  const { body } = await ada.get<{ address: string }>("/api/wallet");
  await page.getByText(body.address, { exact: true }).waitFor();

  await page.getByLabel("At most at once, in USD").fill("lots");
  await page.getByRole("button", { name: "Save limits" }).click();
  await page.getByRole("alert").waitFor();
  await page.getByLabel("At most at once, in USD").fill("5,50");
  await page.getByLabel("Ask me above, in USD").fill("0.5");
  await page.getByLabel("Only to these addresses").fill(RECIPIENT);
  await page.getByRole("button", { name: "Save limits" }).click();
  await page.getByText("Limits saved.").waitFor();
  expect((await ada.get("/api/wallet/policy")).body).toMatchObject({
    perTransaction: "5.5",
    approvalAbove: "0.5",
    recipients: [RECIPIENT.toLowerCase()],
  });
  await page.reload();
  expect(await page.getByLabel("At most at once, in USD").inputValue()).toBe("5.5");
  expect(console.complaints()).toEqual([]);
});

test("sending above the limits is refused, and what an agent wants to pay waits until it is decided", async () => {
  await berth.stop();
  addWaitingSpend();
  await berth.restart({ keepPorts: true });
  await using console = await openConsole(berth, ada);
  const { page } = console;
  await console.open("/wallet");
  await page.getByRole("button", { name: "Send", exact: true }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("To").fill(RECIPIENT);
  await dialog.getByLabel("Amount in US dollars").fill("100");
  await dialog.getByRole("button", { name: "Send", exact: true }).click();
  await dialog.getByRole("alert").waitFor();
  await dialog.getByRole("button", { name: "Cancel" }).click();
  // What waits for a decision stands above what can wait.
  const titles = await page.locator("main h2").allTextContents();
  expect(titles.indexOf("Waits for you")).toBeLessThan(titles.indexOf("Limits"));
  const waiting = page.getByRole("article");
  await waiting.getByText(RECIPIENT, { exact: false }).waitFor();
  await waiting.getByRole("button", { name: "Reject" }).click();
  await page.getByRole("list", { name: "Payments" }).getByText("You rejected it.").waitFor();
  expect(console.complaints()).toEqual([]);
});

test("one switch stops all spending", async () => {
  await using console = await openConsole(berth, ada);
  const { page } = console;
  await console.open("/wallet");
  await page.getByRole("switch", { name: "Spending allowed" }).click();
  await page.getByText("All spending is stopped.").waitFor();
  expect((await ada.get("/api/wallet/policy")).body).toMatchObject({ enabled: false });
  await page.getByRole("switch", { name: "Spending allowed" }).click();
  await page.getByText("Spending is on again.").waitFor();
});

test("a chain that is away takes nothing but the balance from the page", async () => {
  await using console = await openConsole(berth, ada);
  const { page } = console;
  await page.route("**/api/wallets/*", (route) =>
    route.fulfill({ status: 500, json: { error: "The chain can't be reached.", code: "CHAIN_UNAVAILABLE" } }),
  );
  await console.open("/wallet");
  await page.getByRole("alert").getByText("The chain can't be reached.").waitFor();
  await page.getByRole("img", { name: "QR code of the wallet's address" }).waitFor();
});

test("the page is accessible, also while sending, and without a wallet", async () => {
  await expectAccessible(berth, ada, "/wallet", {
    name: "wallet",
    prepare: (page) => page.getByText(/42[.,]50/).waitFor(),
  });
  await expectAccessible(berth, ada, "/wallet", {
    name: "wallet-send",
    async prepare(page) {
      await page.getByRole("button", { name: /^(Send|Senden)$/ }).click();
      await page.getByRole("dialog").waitFor();
    },
  });
  await expectAccessible(berth, await member(berth), "/wallet", { name: "wallet-empty" });
});
