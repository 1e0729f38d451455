// Billing: plans and credits paid through Stripe, if its key is set, and credits paid in stablecoin, if an address for it is. Without
// them there is neither a job nor a query of it.

import { plugin } from "../../src/kernel/plugin.ts";
import { perMinute } from "../../src/kernel/security/rate-limits/rate-limiter.ts";
import { once } from "../../src/kernel/util/cache.ts";
import { HOUR, MINUTE, SECOND } from "../../src/kernel/util/time.ts";
import { admin } from "../admin/index.ts";
import { ai } from "../ai/index.ts";
import { type AuditRecorder, auth } from "../auth/index.ts";
import { planSettings } from "../auth/settings.ts";
import { chains } from "../chains/index.ts";
import { billingSettings } from "./settings.ts";
import { stablecoinSettings } from "./stablecoin/settings.ts";

const RECONCILE_MS = 10 * MINUTE;
const WATCH_MS = 15 * SECOND;

export const billing = plugin("billing", ({ kernel, use }) => {
  const accounts = use(auth);
  const { auditStatement } = use(admin);
  const { addUp } = use(ai);
  const { stripe: access, creditPrice } = kernel.config.of(billingSettings);
  const { pay } = kernel.config.of(stablecoinSettings);
  const { table: plans } = kernel.config.of(planSettings);

  /** Records what a place outside of the service has caused. */
  const auditOf =
    (name: string): AuditRecorder =>
    ({ action, user, details }) =>
      auditStatement(
        { kind: "command", id: null, name, address: null, requestId: null },
        { action, target: { kind: "user", id: user.id, name: user.email }, details },
      );
  const active =
    access &&
    once(async () =>
      (await import("./active.ts")).activate({ kernel, access, plans, accounts, addUp, audit: auditOf("Stripe") }),
    );
  const evmChains = use(chains);
  const stablecoin =
    pay &&
    once(async () =>
      (await import("./stablecoin/active.ts")).activate({
        ...{ kernel, pay, accounts, chains: evmChains },
        audit: auditOf("Stablecoin"),
      }),
    );
  const chainOutage = stablecoin && kernel.outages.watch("stablecoin");
  const watch = async () => {
    if (!stablecoin) return;
    try {
      await (await stablecoin()).watch();
      chainOutage?.worked();
    } catch (error) {
      chainOutage?.failed(error);
      throw error;
    }
  };
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
  if (stablecoin) kernel.jobs.every("billing.stablecoin", WATCH_MS, watch);

  return {
    ...(pay && { rateLimitRules: { "buy-by-chain": { rates: [perMinute(20)] } } }),
    service: {
      /** Handles the events of Stripe that no webhook has brought; returns their number. */
      reconcile,
      /** Reports use beyond plans to Stripe's meter. */
      reportUse,
      /** Reads transfers of stablecoin since the last time, and credits those that are final. */
      watch,
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
        async () =>
          (await import("./stablecoin/routes.ts")).stablecoinRoutes({
            ...kernel,
            identities: accounts.identities,
            stablecoin: await stablecoin?.(),
          }),
      ],
    },
    ...((active || stablecoin) && {
      start() {
        // What happened while the service was down.
        const later = (error: unknown) => kernel.log.warn("payments can't be read; it is tried again", { error });
        reconcile().catch(later);
        watch().catch(later);
      },
    }),
  };
});
