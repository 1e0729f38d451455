// Tests plans and credits paid through Stripe: every state of a customer, and events that are forged, repeated, out of order or lost.
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { plugin } from "../../src/kernel/plugin.ts";
import { createMember } from "../../tests/support/account-setup.ts";
import type { Client } from "../../tests/support/client.ts";
import { temporaryDir } from "../../tests/support/process.ts";
import { queuedMailsTo } from "../../tests/support/queued-mail.ts";
import { expectRefusal } from "../../tests/support/refusal.ts";
import { openServer, type TestServer } from "../../tests/support/server.ts";
import { type FakeStripe, type StripeEvent, startStripe } from "../../tests/support/stripe.ts";
import { billing } from "./index.ts";
import { expectSoundLedger, rowsOf } from "./support.test.ts";

const DAY = 86_400;
const PLANS = {
  metered: {
    ...{ stripePrice: "price_metered", stripeMeterPrice: "price_cents", agents: 1 },
    ...{ modelUsdPerMonth: 1, overageUsdPerMonth: 2 },
  },
  starter: { stripePrice: "price_starter", price: { amount: 10, currency: "usd" } },
  pro: { stripePrice: "price_pro", price: { amount: 30, currency: "usd" }, trialDays: 14 },
};
const PRICES = {
  price_metered: { amount: 500, currency: "usd" },
  price_cents: { amount: 0, currency: "usd" },
  price_starter: { amount: 1_000, currency: "usd" },
  price_pro: { amount: 3_000, currency: "usd" },
};

let stripe: FakeStripe;
let server: TestServer;
let ada: Client;
let userId: string;
let reconcile: () => Promise<number>;
let reportUse: () => Promise<void>;
const dir = temporaryDir();
beforeEach(async () => {
  stripe = startStripe(PRICES);
  const file = join(dir.path, "plans.json");
  await Bun.write(file, JSON.stringify({ plans: PLANS }));
  const probe = plugin("probe", ({ use }) => {
    ({ reconcile, reportUse } = use(billing));
    return { service: {} };
  });
  server = await openServer({ plugins: [probe], env: { PLANS_FILE: file, CREDIT_PRICE: "usd:120", ...stripe.env } });
  const member = await createMember(server, { verified: true });
  ada = member.client;
  userId = member.id;
});
afterEach(async () => {
  expect(stripe.refusals).toEqual([]);
  await server[Symbol.asyncDispose]();
  await stripe.stop();
});

const deliver = async (...events: StripeEvent[]) => {
  for (const event of events) expect((await stripe.deliver(server.web, event)).status).toBe(200);
};
/** All events so far that were not delivered, in the order in which they happened. */
let delivered = 0;
const deliverNew = async () => {
  const fresh = stripe.events.slice(delivered);
  delivered = stripe.events.length;
  await deliver(...fresh);
};
beforeEach(() => {
  delivered = 0;
});

const buy = async (plan: string) => {
  const { status, body } = await ada.post<{ url: string }>("/api/billing/plan", { plan });
  expect(status).toBe(200);
  const subscription = stripe.pay(body.url);
  if (!subscription) throw new Error("No subscription was bought.");
  return subscription.id;
};
const account = async () => {
  const { body } = await ada.get<{
    plan: string;
    credits: number;
    subscription: { status: string; active: boolean } | null;
  }>("/api/settings");
  const { plan, credits, subscription } = body;
  return { plan, credits, status: subscription?.status, active: subscription?.active ?? false };
};
const state = async () => (await ada.get<{ subscription: unknown }>("/api/billing")).body.subscription;
const rows = (sql: string) => rowsOf(server, sql);
const requireSoundLedger = () => expectSoundLedger(server);

describe("a plan", () => {
  test("is in force when Stripe says that it is paid, and stays over its renewals", async () => {
    const id = await buy("starter");
    expect(await account()).toMatchObject({ plan: "free", active: false });
    await deliverNew();
    expect(await account()).toMatchObject({ plan: "starter", status: "active", active: true });
    stripe.renew(id, true);
    await deliverNew();
    expect(await account()).toMatchObject({ plan: "starter", active: true });
    const paid = await rows("SELECT kind, amount, currency FROM payments ORDER BY id");
    expect(paid).toEqual([
      { kind: "plan", amount: 1_000, currency: "usd" },
      { kind: "plan", amount: 1_000, currency: "usd" },
    ]);
    requireSoundLedger();
  });

  test("begins with a trial, once for an account", async () => {
    const id = await buy("pro");
    await deliverNew();
    expect(await account()).toMatchObject({ plan: "pro", status: "trialing", active: true });
    stripe.cancel(id, "now");
    await deliverNew();
    expect(await account()).toMatchObject({ plan: "free", active: false });
    await buy("pro");
    await deliverNew();
    expect(await account()).toMatchObject({ plan: "pro", status: "active" });
  });

  test("says three days before that its trial ends, once, and not to somebody who has cancelled", async () => {
    const id = await buy("pro");
    const event = stripe.announceTrialEnd(id);
    await deliver(event, event);
    await deliverNew();
    const subject = "Your trial of the plan pro ends soon";
    const told = async () =>
      (await queuedMailsTo(server, ada.account.email)).filter((mail) => mail.subject === subject);
    expect(await told()).toHaveLength(1);
    const events = await server.kernel.events.since(0, { userId, types: ["trial.ending"] });
    expect(events.map(({ data }) => data)).toEqual([{ plan: "pro", endsAt: expect.stringMatching(/Z$/) }]);
    stripe.cancel(id, "period end");
    stripe.announceTrialEnd(id);
    await deliverNew();
    expect(await told()).toHaveLength(1);
  });

  test("is changed at once, with the difference charged, and without a second subscription", async () => {
    await buy("starter");
    await deliverNew();
    const { body } = await ada.post("/api/billing/plan", { plan: "pro" });
    expect(body).toEqual({ url: null, changed: true });
    expect(await account()).toMatchObject({ plan: "pro", active: true });
    await deliverNew();
    expect(stripe.subscriptions.size).toBe(1);
    expect(await rows("SELECT amount FROM payments ORDER BY id DESC LIMIT 1")).toEqual([{ amount: 2_000 }]);
    expect((await ada.post("/api/billing/plan", { plan: "pro" })).body).toEqual({ url: null, changed: false });
  });

  test("does not change if the card is refused, and the person is told", async () => {
    await buy("starter");
    await deliverNew();
    stripe.refuseCards(true);
    expectRefusal(await ada.post("/api/billing/plan", { plan: "pro" }), 402, "PAYMENT_FAILED");
    expect(await account()).toMatchObject({ plan: "starter" });
    stripe.refusals.length = 0;
  });

  test("that is cancelled ends with its period, and can be taken up again", async () => {
    const id = await buy("starter");
    stripe.cancel(id, "period end");
    await deliverNew();
    expect(await account()).toMatchObject({ plan: "starter", active: true });
    expect(await state()).toMatchObject({ status: "active", endsThen: true });
    expect((await ada.post("/api/billing/plan", { plan: "starter" })).body).toEqual({ url: null, changed: true });
    expect(await state()).toMatchObject({ endsThen: false });
  });

  test("bought twice at the same time is one in the end", async () => {
    const [one, two] = await Promise.all(
      ["starter", "starter"].map(
        async (plan) => (await ada.post<{ url: string }>("/api/billing/plan", { plan })).body.url,
      ),
    );
    stripe.pay(one ?? "");
    stripe.pay(two ?? "");
    await deliverNew();
    await deliverNew();
    expect([...stripe.subscriptions.values()].map(({ status }) => status).sort()).toEqual(["active", "canceled"]);
    expect(await account()).toMatchObject({ plan: "starter", active: true });
  });
});

describe("a failed payment", () => {
  test("keeps the plan for the days of grace, with one mail, and the payment restores it", async () => {
    const id = await buy("starter");
    await deliverNew();
    const subscription = stripe.subscriptions.get(id);
    const [item] = subscription?.items.data ?? [];
    if (item) item.current_period_end = stripe.now();
    const failed = stripe.renew(id, false);
    await deliverNew();
    await deliver(failed, failed);
    expect(await account()).toMatchObject({ plan: "starter", active: true });
    expect(await state()).toMatchObject({ status: "past_due", graceUntil: expect.stringMatching(/Z$/) });
    const mails = await queuedMailsTo(server, ada.account.email);
    expect(mails.filter(({ subject }) => subject === "A payment for your plan starter has failed")).toHaveLength(1);
    stripe.settle(id);
    await deliverNew();
    expect(await account()).toMatchObject({ plan: "starter", status: "active", active: true });
    expect(await state()).toMatchObject({ status: "active", graceUntil: null });
  });

  test("ends the plan after the days of grace, without any event", async () => {
    const id = await buy("starter");
    await deliverNew();
    const [item] = stripe.subscriptions.get(id)?.items.data ?? [];
    if (item) item.current_period_end = stripe.now() - 8 * DAY;
    stripe.renew(id, false);
    await deliverNew();
    expect(await account()).toMatchObject({ status: "past_due", active: false });
    stripe.cancel(id, "now");
    await deliverNew();
    expect(await account()).toMatchObject({ plan: "free", active: false });
  });
});

describe("credits", () => {
  const buyCredits = async (credits: number) => {
    const { body } = await ada.post<{ url: string }>("/api/billing/credits", { credits });
    stripe.pay(body.url);
  };

  test("are there once, however often Stripe says so", async () => {
    await buyCredits(500);
    await deliverNew();
    await deliver(...stripe.events, ...stripe.events.toReversed());
    await Promise.all(stripe.events.map((event) => deliver(event)));
    expect(await account()).toMatchObject({ credits: 500 });
    expect(await rows("SELECT kind, amount, credits FROM payments")).toEqual([
      { kind: "credits", amount: 600, credits: 500 },
    ]);
    requireSoundLedger();
  });

  test("are not there before the money is", async () => {
    await buyCredits(100);
    const [event] = stripe.events;
    if (!event) throw new Error("There is no event.");
    await deliver({ ...event, id: "evt_unpaid", data: { object: { ...event.data.object, payment_status: "unpaid" } } });
    expect(await account()).toMatchObject({ credits: 0 });
    await deliver({ ...event, type: "checkout.session.async_payment_succeeded" });
    expect(await account()).toMatchObject({ credits: 100 });
  });

  describe("of which the money goes back", () => {
    const chargeId = () => [...stripe.charges.keys()][0] ?? "";
    const use = (microUsd: number) =>
      server.kernel.database.write([
        {
          sql: `INSERT INTO usage (id, at, kind, user_id, provider, model, input_tokens, output_tokens, cost_micro_usd, latency_ms, estimated,
            credit_micro_usd) VALUES (?, ?, 'api', ?, 'provider_1', 'm', 0, 0, ?, 1, 0, ?)`,
          args: [Bun.randomUUIDv7(), Date.now(), userId, microUsd, microUsd],
        },
      ]);
    const owed = () => rows("SELECT coalesce(sum(credits), 0) AS credits FROM credit_debts");
    beforeEach(async () => {
      await buyCredits(500);
      await deliverNew();
    });

    test("are taken back in the same part, once, with an event and an audit entry", async () => {
      const event = stripe.refund(chargeId(), 150);
      await deliver(event, event, { ...event, id: "evt_again" });
      expect(await account()).toMatchObject({ credits: 375 });
      stripe.refund(chargeId());
      await deliverNew();
      expect(await account()).toMatchObject({ credits: 0 });
      expect(await rows("SELECT amount, credits FROM payments WHERE kind = 'refund' ORDER BY id")).toEqual([
        { amount: -150, credits: -125 },
        { amount: -450, credits: -375 },
      ]);
      const events = await server.kernel.events.since(0, { userId, types: ["payment.returned"] });
      expect(events.map(({ data }) => data)).toMatchObject([{ credits: -125 }, { credits: -375 }]);
      expect(await rows("SELECT actor_name FROM audit_log WHERE action = 'user.payment-returned'")).toHaveLength(2);
      requireSoundLedger();
    });

    test("are a debt as far as they are used, which the next ones pay off first", async () => {
      await use(2_000_000);
      stripe.refund(chargeId());
      await deliverNew();
      expect(await account()).toMatchObject({ credits: 0 });
      expect(await owed()).toEqual([{ credits: 200 }]);
      requireSoundLedger();
      await buyCredits(100);
      await deliverNew();
      expect(await account()).toMatchObject({ credits: 0 });
      await buyCredits(300);
      await deliver(...stripe.events, ...stripe.events);
      expect(await account()).toMatchObject({ credits: 200 });
      expect(await owed()).toEqual([{ credits: 0 }]);
      requireSoundLedger();
    });

    test("are taken back while a bank disputes the payment, and given back if the dispute is won", async () => {
      await use(2_000_000);
      stripe.dispute(chargeId());
      await deliverNew();
      expect(await account()).toMatchObject({ credits: 0 });
      stripe.closeDispute(chargeId(), "won");
      await deliverNew();
      expect(await account()).toMatchObject({ credits: 300 });
      expect(await owed()).toEqual([{ credits: 0 }]);
      requireSoundLedger();
    });

    test("stay taken back if the dispute is lost, in whatever order the events come", async () => {
      const created = stripe.dispute(chargeId());
      const closed = stripe.closeDispute(chargeId(), "lost");
      await deliver(closed, created);
      expect(await account()).toMatchObject({ credits: 0 });
      expect(await rows("SELECT count(*) AS refunds FROM payments WHERE kind = 'refund'")).toEqual([{ refunds: 1 }]);
      requireSoundLedger();
    });
  });

  test("whose money went back before their payment was known are neither there nor owed", async () => {
    await buyCredits(100);
    const refunded = stripe.refund([...stripe.charges.keys()][0] ?? "");
    await deliver(refunded, ...stripe.events);
    expect(await account()).toMatchObject({ credits: 0 });
    expect(await rows("SELECT * FROM credit_debts")).toEqual([]);
    requireSoundLedger();
  });

  test("are not touched by the refund of a plan, which is recorded", async () => {
    await buy("starter");
    await deliverNew();
    stripe.refund([...stripe.charges.keys()][0] ?? "");
    await deliverNew();
    expect(await rows("SELECT amount, credits FROM payments WHERE kind = 'refund'")).toEqual([
      { amount: -1_000, credits: 0 },
    ]);
    expect(await account()).toMatchObject({ plan: "starter", active: true });
    requireSoundLedger();
  });

  test.each([[50], [150], [0], [1_000_100]])("%d can't be bought", async (credits) => {
    expect((await ada.post("/api/billing/credits", { credits })).status).toBe(400);
  });
});

describe("events", () => {
  test("in the wrong order lead to the same state", async () => {
    const id = await buy("starter");
    stripe.renew(id, false);
    stripe.settle(id);
    await deliver(...stripe.events.toReversed());
    expect(await account()).toMatchObject({ plan: "starter", status: "active", active: true });
    expect(await rows("SELECT count(*) AS paid FROM payments")).toEqual([{ paid: 2 }]);
  });

  test("that got lost are read from Stripe's list, those that came are not handled again", async () => {
    await buy("starter");
    const { body } = await ada.post<{ url: string }>("/api/billing/credits", { credits: 300 });
    stripe.pay(body.url);
    const [first] = stripe.events;
    if (first) await deliver(first);
    expect(await reconcile()).toBe(stripe.events.length - 1);
    expect(await account()).toMatchObject({ plan: "starter", active: true, credits: 300 });
    expect(await reconcile()).toBe(0);
    await deliver(...stripe.events);
    expect(await account()).toMatchObject({ credits: 300 });
    requireSoundLedger();
  });

  test("that can't be handled are refused, so that Stripe sends them again", async () => {
    await buy("starter");
    const [event] = stripe.events;
    if (!event) throw new Error("There is no event.");
    stripe.down(true);
    expect((await stripe.deliver(server.web, event)).status).toBe(502);
    expect([...server.kernel.outages.current.values()]).toMatchObject([{ of: "stripe", since: expect.any(Number) }]);
    stripe.down(false);
    await deliverNew();
    expect([...server.kernel.outages.current.values()]).toEqual([]);
    expect(await account()).toMatchObject({ plan: "starter", active: true });
  });

  test("that are forged, old or of strangers change nothing", async () => {
    await buy("starter");
    const [event] = stripe.events;
    if (!event) throw new Error("There is no event.");
    const forged = await stripe.deliver(server.web, event, { secret: "whsec_other" });
    const old = await stripe.deliver(server.web, event, { at: Math.floor(Date.now() / 1000) - 600 });
    expect([forged.status, old.status]).toEqual([400, 400]);
    expect(await forged.json()).toMatchObject({ code: "INVALID_SIGNATURE" });
    expect(await account()).toMatchObject({ plan: "free" });
    await deliver({
      ...event,
      id: "evt_stranger",
      data: { object: { ...event.data.object, customer: "cus_stranger" } },
    });
    expect(await account()).toMatchObject({ plan: "free" });
  });
});

test("an account that is deleted is charged no more", async () => {
  await buy("starter");
  await deliverNew();
  expect((await ada.delete("/api/settings", { password: ada.account.password })).status).toBeLessThan(300);
  expect([...stripe.subscriptions.values()].map(({ status }) => status)).toEqual(["canceled"]);
  await deliverNew();
  expect(await rows(`SELECT count(*) AS paid FROM payments WHERE user_id = '${userId}'`)).toEqual([{ paid: 1 }]);
});

test("the portal opens, and invoices are listed", async () => {
  await buy("starter");
  await deliverNew();
  expect((await ada.post("/api/billing/portal", {})).body).toEqual({ url: expect.stringContaining("portal") });
  expect((await ada.get("/api/billing/invoices")).body).toMatchObject({
    ...{ count: 1, invoices: [{ status: "paid", amount: { minorUnits: 1_000, currency: "usd" } }] },
  });
});

test("a plan that is not sold can't be bought", async () => {
  expect((await ada.post("/api/billing/plan", { plan: "enterprise" })).text).toContain("Plans: starter, pro, metered.");
});

test("without a key nothing is sold, and no request waits for Stripe", async () => {
  await using bare = await openServer({});
  const { client } = await createMember(bare);
  expect((await client.get("/api/billing")).body).toEqual({
    enabled: false,
    creditPrice: null,
    plans: [],
    subscription: null,
  });
  expectRefusal(await client.post("/api/billing/plan", { plan: "pro" }), 404, "BILLING_OFF");
  expectRefusal(await client.post("/api/billing/portal", {}), 404, "BILLING_OFF");
  expect((await fetch(`${bare.web}/api/billing/stripe`, { method: "POST", body: "{}" })).status).toBe(404);
});

describe("use beyond what a plan includes", () => {
  const use = (microUsd: number, at = Date.now()) =>
    server.kernel.database.write([
      {
        sql: `INSERT INTO usage (id, at, kind, user_id, provider, model, input_tokens, output_tokens, cost_micro_usd, latency_ms, estimated)
          VALUES (?, ?, 'api', ?, 'provider_1', 'm', 0, 0, ?, 1, 0)`,
        args: [Bun.randomUUIDv7(), at, userId, microUsd],
      },
    ]);
  const cents = () => [...stripe.meterEvents.values()].reduce((sum, { value }) => sum + value, 0);
  beforeEach(async () => {
    await buy("metered");
    await deliverNew();
  });

  test("is reported to the meter, each cent once, up to the most that the plan names", async () => {
    await use(1_000_000);
    await reportUse();
    expect(cents()).toBe(0);
    await use(19_999);
    await reportUse();
    await reportUse();
    expect(cents()).toBe(1);
    await use(1);
    await reportUse();
    expect(cents()).toBe(2);
    await use(9_000_000);
    await reportUse();
    expect(cents()).toBe(200);
    expect(new Set([...stripe.meterEvents.values()].map(({ name }) => name))).toEqual(new Set(["berth_model_use"]));
  });

  test("is reported once if the answer is lost, whatever is used meanwhile", async () => {
    await use(1_500_000);
    stripe.loseAnswers(true);
    await expect(reportUse()).rejects.toMatchObject({ code: "STRIPE_UNAVAILABLE" });
    stripe.loseAnswers(false);
    await use(100_000);
    await reportUse();
    expect(cents()).toBe(60);
  });

  test("is allowed up to that, while the plan is paid", async () => {
    const { body } = await ada.get<{ plan: object }>("/api/usage");
    expect(body).toMatchObject({ plan: { plan: "metered", limitUsd: 3 } });
  });
});
