// Runs the compiled binary against a stand-in for Stripe and a chain, and kills it again and again while payments arrive: in the
// end each payment counts once, none is lost, and the ledger agrees. BERTH_KILLS=100 is the long run.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import type { PaymentRequirements } from "@x402/core/types";
import { generatePrivateKey, privateKeyToAccount, privateKeyToAddress } from "viem/accounts";
import { type Anvil, startAnvil } from "./support/anvil.ts";
import { type Berth, startBerth } from "./support/berth.ts";
import { type Client, createClient } from "./support/client.ts";
import { eventually, seeded } from "./support/eventually.ts";
import { temporaryDir } from "./support/process.ts";
import { type FakeStripe, startStripe } from "./support/stripe.ts";
import { deployToken, freshAddress, giveEther, type Token, transferToken } from "./support/tokens.ts";
import { linkWallet } from "./support/wallets.ts";
import { signPayment } from "./support/x402-buyer.ts";

const KILLS = Number(process.env.BERTH_KILLS ?? 3);
let stripe: FakeStripe;
let chain: Anvil;
let usd: Token;
let berth: Berth;
const payTo = freshAddress();
const settler = generatePrivateKey();
const people: { client: Client; credits: number }[] = [];
const plans = temporaryDir();

beforeAll(async () => {
  stripe = startStripe({ price_pro: { amount: 2_900, currency: "usd" } });
  chain = await startAnvil({ chainId: 84_532 });
  usd = await deployToken(chain);
  await giveEther(chain, privateKeyToAddress(settler));
  const file = join(plans.path, "plans.json");
  await Bun.write(file, JSON.stringify({ plans: { pro: { stripePrice: "price_pro" } } }));
  berth = await startBerth({
    env: {
      ...stripe.env,
      ...{ PLANS_FILE: file, CREDIT_PRICE: "usd:100", RATE_LIMITS: "off", BOT_DETECTION: "off" },
      ...{ TESTNET_RPC_URL: chain.url, STABLECOIN_ADDRESS_TESTNET: usd.address, STABLECOIN_PAY_TO: payTo },
      ...{ STABLECOIN_PAY_NETWORK: "testnet_chain", STABLECOIN_CONFIRMATIONS: "1", X402_SETTLER_KEY: settler },
    },
  });
});
afterAll(async () => {
  await berth[Symbol.asyncDispose]();
  await stripe.stop();
  await chain[Symbol.asyncDispose]();
  plans.remove();
});

test(
  `after ${KILLS} kills during webhooks no payment counts twice, and no event is lost`,
  async () => {
    const random = seeded(1);
    for (let n = 0; n < 3; n++) {
      const client = createClient(berth);
      await client.join();
      people.push({ client, credits: 0 });
    }
    for (let kill = 0; kill < KILLS; kill++) {
      for (const person of people) {
        const credits = 100 * random.integer(1, 5);
        const { client } = person;
        const { body } = await client.post<{ url: string }>("/api/billing/credits", { credits });
        stripe.pay(body.url);
        person.credits += credits;
        if (kill === 0) {
          const { body: plan } = await client.post<{ url: string }>("/api/billing/plan", { plan: "pro" });
          stripe.pay(plan.url);
        }
      }
      // Some events come twice, some not at all, and the process dies between an event and its answer.
      const from = Math.max(0, stripe.events.length - 8);
      const sent = stripe.events.slice(from).flatMap((event) => {
        const times = random.pick([0, 1, 1, 2]);
        return Array.from({ length: times }, () => stripe.deliver(berth.web, event).catch(() => undefined));
      });
      const answered = random.integer(0, sent.length);
      await Promise.all(sent.slice(0, answered).slice(-1));
      await berth.kill();
      await Promise.all(sent);
      await berth.restart({ keepPorts: true });
    }
    // The start reads what no webhook brought.
    for (const { client, credits } of people) {
      await eventually(async () => {
        const { body } = await client.get<{ credits: number; plan: string }>("/api/settings");
        expect(body).toMatchObject({ credits, plan: "pro" });
        return true;
      });
    }
    const { exitCode, stdout } = await berth.command("ledger", "check", "--json");
    expect(stdout).toContain('"ok": true');
    expect(exitCode).toBe(0);
    const paid = people.reduce((sum, { credits }) => sum + credits, 0) + people.length * 2_900;
    expect(JSON.parse(stdout).cells[0].totals.paid).toEqual([
      { currency: "usd", amount: paid, payments: KILLS * people.length + people.length },
    ]);
    expect(stripe.customers.size).toBe(people.length);
    expect(stripe.refusals).toEqual([]);
  },
  60_000 + KILLS * 5_000,
);

test(
  `after ${KILLS} kills between payments in stablecoin and their credits each counts once, and none is lost`,
  async () => {
    const random = seeded(2);
    const client = createClient(berth);
    await client.join();
    const wallet = privateKeyToAccount(generatePrivateKey());
    await giveEther(chain, wallet.address, "10");
    await usd.mint(wallet.address, 1_000_000_000n);
    await linkWallet(berth, client, wallet);
    const buy = (credits: number, headers: Record<string, string> = {}) =>
      client.post<{ state?: string; accepts: PaymentRequirements[] }>(
        "/api/billing/credits/x402",
        { credits },
        { headers },
      );
    let expected = 0;
    const unfinished = new Map<string, number>();
    for (let kill = 0; kill < KILLS; kill++) {
      const amount = random.integer(1, 4);
      await transferToken(chain, usd, { from: wallet, to: payTo, units: BigInt(amount) * 1_000_000n });
      const [terms] = (await buy(100)).body.accepts;
      if (!terms) throw new Error("There is no price.");
      const header = await signPayment(wallet, terms);
      expected += amount * 100 + 100;
      unfinished.set(header, 100);
      // The process dies before, while or after it stores, sends or credits the payment.
      const paying = buy(100, { "payment-signature": header }).catch(() => undefined);
      await Promise.race([paying, Bun.sleep(random.integer(0, 400))]);
      await berth.kill();
      await paying;
      await berth.restart({ keepPorts: true });
      // As a buyer does whose request got no answer; some only later.
      for (const [open, credits] of unfinished) {
        if (random.integer(0, 2) === 0) continue;
        if ((await buy(credits, { "payment-signature": open })).body.state === "credited") unfinished.delete(open);
      }
    }
    for (const [open, credits] of unfinished)
      expect((await buy(credits, { "payment-signature": open })).body).toMatchObject({ state: "credited" });
    await eventually(async () => (await client.get<{ credits: number }>("/api/settings")).body.credits === expected, {
      timeoutMs: 30_000,
      what: "all is credited",
    });
    const { exitCode, stdout } = await berth.command("ledger", "check", "--json");
    expect(stdout).toContain('"ok": true');
    expect(exitCode).toBe(0);
    const { paid } = JSON.parse(stdout).cells[0].totals;
    expect(paid).toContainEqual({ currency: "usdc", amount: expected * 10_000, payments: KILLS * 2 });
    expect(await usd.balanceOf(payTo)).toBe(BigInt(expected) * 10_000n);
  },
  60_000 + KILLS * 8_000,
);

test("the ledger's check says in words what it compared", async () => {
  const { exitCode, stdout } = await berth.command("ledger", "check");
  expect(stdout).toContain("ok    credits that payments bought and that accounts got for them:");
  expect(stdout).toEndWith("Payments, credits and usage agree.\n");
  expect(exitCode).toBe(0);
});
