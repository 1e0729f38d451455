// The page of the plan where plans and credits are paid: through Stripe's Checkout and portal, and in stablecoin on a real chain.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { type Anvil, startAnvil } from "../support/anvil.ts";
import { type Berth, startBerth } from "../support/berth.ts";
import { type Client, createClient } from "../support/client.ts";
import { temporaryDir } from "../support/process.ts";
import { type FakeStripe, startStripe } from "../support/stripe.ts";
import { deployToken, freshAddress, giveEther, type Token, transferToken } from "../support/tokens.ts";
import { linkWallet } from "../support/wallets.ts";
import { expectAccessible, openConsole } from "./support/console.ts";
import { scanQr } from "./support/qr.ts";

const PAGE = "/account/plan";
const files = temporaryDir();
const payTo = freshAddress();
let stripe: FakeStripe;
let chain: Anvil;
let usd: Token;
let berth: Berth;
let ada: Client;
let delivered = 0;

beforeAll(async () => {
  stripe = startStripe({
    price_starter: { amount: 1_000, currency: "usd" },
    price_pro: { amount: 2_900, currency: "usd" },
  });
  await Bun.write(
    join(files.path, "plans.json"),
    JSON.stringify({
      plans: {
        starter: { stripePrice: "price_starter", price: { amount: 10, currency: "usd" } },
        pro: { stripePrice: "price_pro", price: { amount: 29, currency: "usd" }, trialDays: 14 },
      },
    }),
  );
  chain = await startAnvil({ chainId: 84_532 });
  [usd, berth] = await Promise.all([deployToken(chain), startBerth({ env: { RATE_LIMITS: "off" } })]);
  ada = createClient(berth);
  await ada.join();
});
afterAll(async () => {
  await berth?.[Symbol.asyncDispose]();
  await stripe?.stop();
  await chain?.[Symbol.asyncDispose]();
  files.remove();
});

/** All events that were not delivered yet. */
async function deliver(): Promise<void> {
  for (const event of stripe.events.slice(delivered)) expect((await stripe.deliver(berth.web, event)).status).toBe(200);
  delivered = stripe.events.length;
}

/** Stands for the pages of Stripe, and waits until the browser is on one. */
async function reachStripe(page: Page, act: () => Promise<void>): Promise<string> {
  await page.route(/stripe\.example/, (route) => route.fulfill({ contentType: "text/html", body: "<h1>Stripe</h1>" }));
  await act();
  await page.waitForURL(/stripe\.example/);
  return page.url();
}

test("without a key and an address nothing of it shows", async () => {
  await using console = await openConsole(berth, ada);
  const { page } = console;
  await console.open(PAGE);
  await page.getByRole("heading", { name: "Referral" }).waitFor();
  await page.waitForLoadState("networkidle");
  expect(await page.getByRole("heading", { name: /^Pay/ }).count()).toBe(0);
  expect(await page.getByRole("button", { name: /credits|payment/ }).count()).toBe(0);
  expect(console.complaints()).toEqual([]);
  await berth.restart({
    keepPorts: true,
    env: {
      ...stripe.env,
      ...{ PLANS_FILE: join(files.path, "plans.json"), CREDIT_PRICE: "usd:120" },
      ...{ TESTNET_RPC_URL: chain.url, STABLECOIN_ADDRESS_TESTNET: usd.address },
      ...{ STABLECOIN_PAY_TO: payTo, STABLECOIN_PAY_NETWORK: "testnet_chain", STABLECOIN_CREDIT_PRICE: "1.20" },
      STABLECOIN_CONFIRMATIONS: "2",
    },
  });
});

test("a plan is taken with the keyboard in Stripe's Checkout, and its trial shows on the way back", async () => {
  await using console = await openConsole(berth, ada);
  const { page } = console;
  await console.open(PAGE);
  await page.getByRole("button", { name: "Pro for $29.00 a month" }).focus();
  const url = await reachStripe(page, () => page.keyboard.press("Enter"));
  expect(url).toContain("checkout.stripe.example");
  stripe.pay(url);
  await console.open(`${PAGE}?paid=1`);
  await page.getByText("Thank you.", { exact: false }).waitFor();
  await deliver();
  await page.getByText("On trial").waitFor();
  expect(await page.getByRole("button", { name: "Pro for $29.00 a month" }).isDisabled()).toBe(true);
  expect(console.complaints().every((one) => one.startsWith("foreign: https://checkout.stripe.example"))).toBe(true);
});

test("credits are bought by the hundred, and are there as soon as Stripe says so", async () => {
  await using console = await openConsole(berth, ada);
  const { page } = console;
  await console.open(PAGE);
  await page.getByLabel("Credits").selectOption({ label: "1,000 for $12.00" });
  const url = await reachStripe(page, () => page.getByRole("button", { name: "Buy credits" }).click());
  stripe.pay(url);
  await console.open(`${PAGE}?paid=1`);
  await deliver();
  await page.locator("dl").getByText("1,000", { exact: true }).waitFor();
  await page.reload();
  await page.getByRole("heading", { name: "Invoices" }).waitFor();
  await page.getByText("$12.00", { exact: true }).waitFor();
});

test("the portal opens, and a failed payment is named with the last day of the plan", async () => {
  await using console = await openConsole(berth, ada);
  const { page } = console;
  const [subscription] = stripe.subscriptions.values();
  const [item] = subscription?.items.data ?? [];
  if (!subscription || !item) throw new Error("There is no subscription.");
  item.current_period_end = stripe.now();
  stripe.renew(subscription.id, false);
  await deliver();
  await console.open(PAGE);
  await page
    .getByRole("status")
    .getByText("A payment has failed. The plan stays in force until", { exact: false })
    .waitFor();
  const url = await reachStripe(page, () =>
    page.getByRole("button", { name: "Card, invoices and cancelling" }).click(),
  );
  expect(url).toContain("portal.stripe.example");
});

test("stablecoin from a linked wallet becomes credits, and a wrong transaction is explained", async () => {
  await using console = await openConsole(berth, ada);
  const { page } = console;
  await console.open(PAGE);
  await page.getByText("No wallet is linked to your account yet.", { exact: false }).waitFor();
  await page.getByText("100 credits cost $1.20.", { exact: false }).waitFor();
  expect(await scanQr(page.getByRole("img", { name: "QR code of the address" }))).toBe(payTo);
  const wallet = privateKeyToAccount(generatePrivateKey());
  await giveEther(chain, wallet.address);
  await usd.mint(wallet.address, 10_000_000n);
  await linkWallet(berth, ada, wallet);
  const hash = await transferToken(chain, usd, { from: wallet, to: payTo, units: 6_000_000n });
  const find = async (transaction: string) => {
    await page.getByLabel("Transaction of a payment that is missing below").fill(transaction);
    await page.getByRole("button", { name: "Find the payment" }).click();
  };
  await find(`0x${"12".repeat(32)}`);
  await page
    .getByRole("alert")
    .getByText("No block of this chain has this transaction yet.", { exact: false })
    .waitFor();
  await find(hash);
  const payment = page.getByRole("list", { name: "Payments" }).getByRole("listitem");
  await payment.getByText("on its way: it counts after 2 blocks").waitFor();
  await giveEther(chain, wallet.address);
  await payment.getByText("500 credits").waitFor();
  await page.locator("dl").getByText("1,500", { exact: true }).waitFor();
  expect(console.complaints()).toEqual([]);
});

test("the page has no faults in either theme, size and language", async () => {
  for (let view = 0; view < (process.env.BERTH_SHOTS ? 1 : 4); view++)
    await expectAccessible(berth, ada, PAGE, {
      name: "billing",
      prepare: (page) => page.locator("svg[role=img]").waitFor(),
    });
});
