// Asks Stripe for its newest event, and the chain of stablecoin payments for its id. Nothing is bought or changed.

import { billingSettings } from "../../../../plugins/billing/settings.ts";
import { stablecoinSettings } from "../../../../plugins/billing/stablecoin/settings.ts";
import { createStripeClient } from "../../../../plugins/billing/stripe-client.ts";
import { createChains } from "../../../../plugins/chains/index.ts";
import type { Config } from "../../../kernel/config/config.ts";
import { type CheckResult, reasonOf } from "./check.ts";

/** None of what is not set up. */
export const checkPayments = async (config: Pick<Config, "of">): Promise<CheckResult[]> =>
  (await Promise.all([checkStripe(config), checkStablecoin(config)])).flat();

async function checkStripe(config: Pick<Config, "of">): Promise<CheckResult[]> {
  const { stripe: access } = config.of(billingSettings);
  if (!access) return [];
  const { call } = createStripeClient(access, { failed: () => false, worked: () => false });
  try {
    await call((sdk) => sdk.events.list({ limit: 1 }));
    return [{ level: "good", text: "Stripe answers, and lists its events." }];
  } catch (error) {
    const cause = error instanceof Error ? (error.cause ?? error) : error;
    const isRefused =
      cause instanceof Error &&
      "type" in cause &&
      (cause.type === "StripeAuthenticationError" || cause.type === "StripePermissionError");
    return [
      isRefused
        ? {
            level: "broken",
            text: "Stripe does not accept the key.",
            action: "Put a valid key into STRIPE_SECRET_KEY; a restricted one needs the rights that billing.md lists.",
          }
        : {
            level: "broken",
            text: `Stripe does not answer as it should: ${reasonOf(cause)}`,
            action: "Look at its status page, and check STRIPE_API_URL and this machine's connection.",
          },
    ];
  }
}

async function checkStablecoin(config: Pick<Config, "of">): Promise<CheckResult[]> {
  const { pay } = config.of(stablecoinSettings);
  if (!pay) return [];
  const { mainnet, testnet } = createChains(config);
  const [chain, setting] =
    pay.network === "mainnet_chain" ? [mainnet, "MAINNET_RPC_URL"] : [testnet, "TESTNET_RPC_URL"];
  try {
    await chain.withClient((client) => client.getBlockNumber());
    return [{ level: "good", text: `Stablecoin: the chain answers (${pay.network}).` }];
  } catch (error) {
    const cause = error instanceof Error ? (error.cause ?? error) : error;
    const action = `Check ${setting} and this machine's connection.`;
    return [{ level: "broken", text: `Stablecoin: ${reasonOf(cause)}`, action }];
  }
}
