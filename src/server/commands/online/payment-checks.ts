// Asks Stripe for its newest event, and the chain of stablecoin payments for its id. Nothing is bought or changed.

import { billingSettings } from "../../../../plugins/billing/settings.ts";
import { stablecoinSettings } from "../../../../plugins/billing/stablecoin/settings.ts";
import { createStripeClient } from "../../../../plugins/billing/stripe-client.ts";
import { chainSettings } from "../../../../plugins/chains/settings.ts";
import type { Config } from "../../../kernel/config/config.ts";
import { becauseOf, type CheckResult, reasonOf } from "./check.ts";

const TIMEOUT_MS = 10_000;

/** Empty if no payments are set up. */
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
  const { mainnet, testnet } = config.of(chainSettings);
  const [{ id, rpcUrl }, setting] =
    pay.network === "mainnet_chain" ? [mainnet, "MAINNET_RPC_URL"] : [testnet, "TESTNET_RPC_URL"];
  // The path of the address may be a key.
  const about = `Stablecoin: ${pay.network} at ${new URL(rpcUrl).host}`;
  const action = `Check ${setting} and this machine's connection.`;
  try {
    const found = await askChainId(rpcUrl);
    return [
      found === id
        ? { level: "good", text: `${about} answers.` }
        : { level: "broken", text: `${about} is chain ${found}, and should be ${id}.`, action },
    ];
  } catch (error) {
    return [{ level: "broken", text: `${about} does not answer: ${becauseOf(error)}`, action }];
  }
}

async function askChainId(rpcUrl: string): Promise<number> {
  const response = await fetch(rpcUrl, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "eth_chainId", params: [] }),
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  const { result } = (await response.json()) as { result?: unknown };
  if (typeof result !== "string") throw new Error(`its answer is no chain id (status ${response.status})`);
  return Number(result);
}
