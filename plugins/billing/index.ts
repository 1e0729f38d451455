// Billing: plans and credits paid through Stripe, if its key is set. Without one there is neither a job nor a query of it.

import { StartError } from "../../src/kernel/errors.ts";
import { plugin } from "../../src/kernel/plugin.ts";
import { once } from "../../src/kernel/util/cache.ts";
import { HOUR, MINUTE } from "../../src/kernel/util/time.ts";
import { admin } from "../admin/index.ts";
import { ai } from "../ai/index.ts";
import { type AuditRecorder, auth } from "../auth/index.ts";
import { planSettings } from "../auth/settings.ts";
import { billingSettings } from "./settings.ts";

const RECONCILE_MS = 10 * MINUTE;

export const billing = plugin("billing", ({ kernel, use }) => {
  const accounts = use(auth);
  const { auditStatement } = use(admin);
  const { addUp } = use(ai);
  const { stripe: access, creditPrice } = kernel.config.of(billingSettings);
  const { table: plans } = kernel.config.of(planSettings);
  if (access && kernel.cells)
    throw new StartError("Payments through Stripe need CELLS=1. Leave STRIPE_SECRET_KEY or CELLS out.");

  const actor = { kind: "command" as const, id: null, name: "Stripe", address: null, requestId: null };
  const audit: AuditRecorder = ({ action, user, details }) =>
    auditStatement(actor, { action, target: { kind: "user", id: user.id, name: user.email }, details });
  const active =
    access &&
    once(async () => (await import("./active.ts")).activate({ kernel, access, plans, accounts, addUp, audit }));
  const reconcile = async () => (active ? (await active()).events.reconcile() : 0);
  const reportUse = async () => {
    if (active) await (await active()).meter.report();
  };

  if (active) {
    accounts.beforeDeletion(async ({ user }) => {
      await (await active()).purchases.endAll(user.id);
      return [];
    });
    kernel.jobs.every("billing.reconcile", RECONCILE_MS, async () => void (await reconcile()));
    if (plans.plans.some(({ overageMicroUsd }) => overageMicroUsd > 0))
      kernel.jobs.every("billing.meter", HOUR, reportUse);
  }

  return {
    service: {
      /** Handles the events of Stripe that no webhook has brought; returns their number. */
      reconcile,
      /** Reports use beyond plans to Stripe's meter. */
      reportUse,
    },
    lateRoutes: {
      web: [
        async () =>
          (await import("./routes.ts")).billingRoutes({
            identities: accounts.identities,
            billing: await active?.(),
            plans,
            creditPrice,
          }),
      ],
    },
    ...(active && {
      start() {
        // What happened while the service was down.
        reconcile().catch((error: unknown) =>
          kernel.log.warn("Stripe's events can't be read; it is tried again", { error }),
        );
      },
    }),
  };
});
