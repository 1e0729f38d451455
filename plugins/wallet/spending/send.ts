// Sends stablecoin: checks the request, reserves the transfer in the ledger, and waits for its outcome.
import type { Address } from "viem";
import { invalidInput } from "../../../src/kernel/errors.ts";
import type { ChainName } from "../../chains/index.ts";
import { formatDecimalUnits, parseDecimalUnits, USD_DECIMALS } from "../amounts.ts";
import { readWalletBalances, TOKEN_ABI } from "../chain/token-contract.ts";
import type { Wallets } from "../keys/wallets.ts";
import type { Spend } from "./ledger.ts";
import { requireAddress, requireUsd, type SpendContext, type SpendingSteps } from "./spending-steps.ts";

export interface SendRequest {
  to: string;
  /** USD as a decimal text, such as 1.50. */
  amount: string;
  network?: ChainName | undefined;
  /** The address of one of the user's wallets; their own wallet if left out. */
  from?: string | undefined;
}

/**
 * Sends stablecoin, and waits up to ten seconds for the outcome; the spend continues after that. Throws 400
 * `INVALID_INPUT` and `INSUFFICIENT_FUNDS`, 403 `POLICY_DENIED`, 404 `NO_WALLET`, 409 `IDEMPOTENCY_MISMATCH` and
 * `TOO_MANY_SPENDS`, 500 `CHAIN_UNAVAILABLE`.
 */
export type Send = (spendContext: SpendContext, request: SendRequest) => Promise<Spend>;

export function createSend({ steps, wallets }: { steps: SpendingSteps; wallets: Pick<Wallets, "require"> }): Send {
  const { chainOf, stablecoinOf } = steps;

  return async (spendContext, request) => {
    const existing = await steps.findExisting(spendContext, "send", request);
    if (existing) return existing;
    const { encodeFunctionData } = await import("viem");
    const { network = "testnet_chain" } = request;
    const wallet = await wallets.require(spendContext.userId, request.from);
    const to = await requireAddress("to", request.to);
    const usd = requireUsd("amount", request.amount);
    const asset = await requireAddress("asset", stablecoinOf(network));
    const assets = [asset.toLowerCase()];
    await steps.requirePolicy(spendContext.userId, { usd: Number(usd), recipient: to.toLowerCase(), assets });

    const balances = await readWalletBalances(chainOf(network), asset, wallet.address as Address);
    const units = toTokenUnits(usd, balances.decimals);
    await steps.requireFunds({ network, address: wallet.address }, asset, units, balances, true);
    const data = encodeFunctionData({ abi: TOKEN_ABI, functionName: "transfer", args: [to, units] });
    const spend = await steps.reserve(spendContext, "send", request, {
      wallet,
      network,
      asset,
      units,
      usd: Number(usd),
      amount: formatDecimalUnits(usd, USD_DECIMALS),
      recipient: to,
      details: { assets },
      plan: { calls: [{ to: asset, data }] },
    });
    return steps.waitForOutcome(spend);
  };
}

/** USD in millionths as smallest units of a stablecoin with these decimals; 400 if the token has too few decimals. */
function toTokenUnits(usd: bigint, decimals: number): bigint {
  const units = parseDecimalUnits(formatDecimalUnits(usd, USD_DECIMALS), decimals);
  if (units !== undefined) return units;
  throw invalidInput({ path: "amount", message: `The token has only ${decimals} decimals.` });
}
