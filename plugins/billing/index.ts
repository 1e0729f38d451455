// Billing: plans and credits paid through Stripe, if its key is set. Without one there is neither a job nor a query of it.

import { StartError } from "../../src/kernel/errors.ts";
import { plugin } from "../../src/kernel/plugin.ts";
import { HOUR, MINUTE } from "../../src/kernel/util/time.ts";
import { admin } from "../admin/index.ts";
import { ai, budgetOf } from "../ai/index.ts";
import { budgetSettings } from "../ai/settings.ts";
import { type AuditRecorder, auth, type Plan } from "../auth/index.ts";
import { planSettings } from "../auth/settings.ts";
import { createCustomerState } from "./customer-state.ts";
import { createMeter } from "./meter.ts";
import { createBillingRows } from "./payment-rows.ts";
import { createPurchases } from "./purchases.ts";
import { billingSettings } from "./settings.ts";
import { createStripeClient, type StripeAccess } from "./stripe-client.ts";
import { createStripeEvents } from "./stripe-events.ts";

const RECONCILE_MS = 10 * MINUTE;

export const billing = plugin("billing", ({ kernel, use }) => {
  const { identities, users, administration, mails, beforeDeletion } = use(auth);
  const { auditStatement } = use(admin);
  const { addUp } = use(ai);
  const { stripe: access, creditPrice, graceDays, meterEvent } = kernel.config.of(billingSettings);
  const { table: plans } = kernel.config.of(planSettings);
  const rows = createBillingRows(kernel);
  let reportUse = async (): Promise<void> => undefined;
  const active = access && activate(access);

  function activate(access: StripeAccess) {
    if (kernel.cells)
      throw new StartError("Payments through Stripe need CELLS=1. Leave STRIPE_SECRET_KEY or CELLS out.");
    const stripe = createStripeClient(access);
    const actor = { kind: "command" as const, id: null, name: "Stripe", address: null, requestId: null };
    const audit: AuditRecorder = ({ action, user, details }) =>
      auditStatement(actor, { action, target: { kind: "user", id: user.id, name: user.email }, details });
    const shared = { ...kernel, stripe, rows, plans, users, now: Date.now };
    const customers = createCustomerState({ ...shared, administration, audit, graceDays });
    const planName = (priceId: string) => {
      const plan = plans.plans.find(({ stripePrice }) => stripePrice === priceId);
      return plan?.name ?? plan?.id ?? "";
    };
    const events = createStripeEvents({ ...shared, customers, mails, planName });
    const purchases = createPurchases({ ...shared, events, creditPrice });
    beforeDeletion(async ({ user }) => {
      await purchases.endAll(user.id);
      return [];
    });
    const { planMicroUsd } = kernel.config.of(budgetSettings);
    if (plans.plans.some(({ overageMicroUsd }) => overageMicroUsd > 0)) {
      const includedBy = (plan: Plan) => budgetOf(plan, planMicroUsd);
      const meter = createMeter({ ...shared, includedBy, addUp, eventName: meterEvent });
      kernel.jobs.every("billing.meter", HOUR, () => meter.report());
      reportUse = meter.report;
    }
    kernel.jobs.every("billing.reconcile", RECONCILE_MS, async () => void (await events.reconcile()));
    return { stripe, events, purchases };
  }

  return {
    service: {
      /** Handles the events of Stripe that no webhook has brought; returns their number. */
      /** Reports use beyond plans to Stripe's meter. */
      reportUse: () => reportUse(),
      reconcile: async () => (await active?.events.reconcile()) ?? 0,
    },
    lateRoutes: {
      web: [
        async () =>
          (await import("./routes.ts")).billingRoutes({ identities, billing: active, rows, plans, creditPrice }),
      ],
    },
    ...(active && {
      start() {
        // What happened while the service was down.
        active.events
          .reconcile()
          .catch((error: unknown) => kernel.log.warn("Stripe's events can't be read; it is tried again", { error }));
      },
    }),
  };
});
