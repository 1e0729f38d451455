// Runs the compiled binary against a stand-in for Stripe, and kills it again and again while events arrive: in the end each payment
// counts once, no event is lost, and the ledger agrees.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { type Berth, startBerth } from "./support/berth.ts";
import { type Client, createClient } from "./support/client.ts";
import { eventually, seeded } from "./support/eventually.ts";
import { temporaryDir } from "./support/process.ts";
import { type FakeStripe, startStripe } from "./support/stripe.ts";

const KILLS = Number(process.env.BILLING_KILLS ?? 3);
let stripe: FakeStripe;
let berth: Berth;
const people: { client: Client; credits: number }[] = [];
const plans = temporaryDir();

beforeAll(async () => {
  stripe = startStripe({ price_pro: { amount: 2_900, currency: "usd" } });
  const file = join(plans.path, "plans.json");
  await Bun.write(file, JSON.stringify({ plans: { pro: { stripePrice: "price_pro" } } }));
  berth = await startBerth({
    env: { ...stripe.env, PLANS_FILE: file, CREDIT_PRICE: "usd:100", RATE_LIMITS: "off", BOT_DETECTION: "off" },
  });
}, 30_000);
afterAll(async () => {
  await berth[Symbol.asyncDispose]();
  await stripe.stop();
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

test("the ledger's check says in words what it compared", async () => {
  const { exitCode, stdout } = await berth.command("ledger", "check");
  expect(stdout).toContain("ok    credits that payments bought and that accounts got for them:");
  expect(stdout).toEndWith("Payments, credits and usage agree.\n");
  expect(exitCode).toBe(0);
});
