// What works with a key of Stripe; loaded at the first use, so that a service without one loads nothing of it.

import type { Kernel, ServiceOf } from "../../src/kernel/plugin.ts";
import { type ai, budgetOf } from "../ai/index.ts";
import { budgetSettings } from "../ai/settings.ts";
import type { AuditRecorder, auth, Plan, PlanTable } from "../auth/index.ts";
import { createCustomerState } from "./customer-state.ts";
import { createMeter } from "./meter.ts";
import { createPaymentNews } from "./payment-news.ts";
import { createBillingRows } from "./payment-rows.ts";
import { createPurchases } from "./purchases.ts";
import { billingSettings } from "./settings.ts";
import { createStripeClient, type StripeAccess } from "./stripe-client.ts";
import { createStripeEvents } from "./stripe-events.ts";

interface Deps {
  kernel: Kernel;
  access: StripeAccess;
  plans: PlanTable;
  accounts: Pick<ServiceOf<typeof auth>, "users" | "administration" | "mails">;
  addUp: ServiceOf<typeof ai>["addUp"];
  audit: AuditRecorder;
}

export type ActiveBilling = ReturnType<typeof activate>;

export function activate({ kernel, access, plans, accounts, addUp, audit }: Deps) {
  const { creditPrice, graceDays, meterEvent } = kernel.config.of(billingSettings);
  const { planMicroUsd } = kernel.config.of(budgetSettings);
  const { users, administration, mails } = accounts;
  const rows = createBillingRows(kernel);
  const stripe = createStripeClient(access, kernel.outages.watch("stripe"));
  const shared = { ...kernel, stripe, rows, plans, users, now: Date.now };
  const customers = createCustomerState({ ...shared, administration, audit, graceDays });
  const planName = (priceId: string) => {
    const plan = plans.plans.find(({ stripePrice }) => stripePrice === priceId);
    return plan?.name ?? plan?.id ?? "";
  };
  const events = createStripeEvents({ ...shared, customers, mails, news: createPaymentNews(kernel, audit), planName });
  const includedBy = (plan: Plan) => budgetOf(plan, planMicroUsd);
  return {
    rows,
    stripe,
    events,
    purchases: createPurchases({ ...shared, events, creditPrice }),
    meter: createMeter({ ...shared, includedBy, addUp, eventName: meterEvent }),
  };
}
