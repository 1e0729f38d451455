// Turns a row of the ledger into the item of the API, with the names of known tokens and a link to the transaction.

import type { Static } from "elysia";
import { formatDecimalUnits } from "./amounts.ts";
import { definedFields, formatUsd, STATUS_BY_STATE, type spendItem } from "./spend-model.ts";
import { parseDetails, type Spend } from "./spending/ledger.ts";
import type { SpendingSteps } from "./spending/spending-steps.ts";
import { WETH } from "./spending/trading.ts";

export type SpendItem = Static<typeof spendItem>;

export function createSpendItems({ chainOf, stablecoinOf }: Pick<SpendingSteps, "chainOf" | "stablecoinOf">) {
  /** Other tokens name themselves, which proves nothing. */
  function nameOf(network: Spend["network"], address: string): "USDC" | "WETH" | undefined {
    if (address.toLowerCase() === stablecoinOf(network).toLowerCase()) return "USDC";
    return address.toLowerCase() === WETH ? "WETH" : undefined;
  }

  return (spend: Spend): SpendItem => {
    const { network, asset, hash, fee } = spend;
    const { buy, quoted, atLeast, url } = parseDetails(spend);
    const assetName = nameOf(network, asset);
    const buyName = buy === undefined ? undefined : nameOf(network, buy);
    return {
      id: spend.id,
      kind: spend.kind,
      status: STATUS_BY_STATE[spend.state],
      ...definedFields(spend),
      amount: spend.amount,
      usd: formatUsd(spend.usd),
      asset,
      ...(assetName && { assetName }),
      network,
      ...(hash !== null && { link: `${chainOf(network).explorerUrl}/tx/${hash}` }),
      from: spend.address,
      to: spend.recipient,
      ...(buy !== undefined && { buy }),
      ...(buyName && { buyName }),
      ...(quoted !== undefined && { quoted }),
      ...(atLeast !== undefined && { atLeast }),
      ...(url !== undefined && { url }),
      ...(fee !== null && { fee: formatDecimalUnits(BigInt(fee), 18) }),
      agentId: spend.agentId,
      createdAt: new Date(spend.createdAt).toISOString(),
    };
  };
}
