// Sends signed transactions to a node.
import type { Hex } from "viem";
import type { Log } from "../../../src/kernel/telemetry/log.ts";
import type { Chain } from "../../chains/index.ts";
import type { Transaction } from "./spend-store.ts";

/**
 * Sends a signed transaction. False if the node rejected it or can't be reached: the caller resends it later, and the
 * chain executes it once at most, because its nonce is part of what was signed.
 */
export async function broadcastTransaction(
  chain: Chain,
  log: Pick<Log, "debug">,
  { raw, spendId }: Pick<Transaction, "raw" | "spendId">,
): Promise<boolean> {
  try {
    await chain.withClient((client) => client.request({ method: "eth_sendRawTransaction", params: [raw as Hex] }));
    return true;
  } catch (error) {
    log.debug("The node rejected a signed transaction; it will be resent.", { spend: spendId, error });
    return false;
  }
}
