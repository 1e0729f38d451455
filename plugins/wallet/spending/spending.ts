// Puts together what spends from wallets: sends, trades, payments, and the approval of those that wait for their owner.
import type { Kernel } from "../../../src/kernel/plugin.ts";
import type { Chains } from "../../chains/index.ts";
import type { NonceQueues } from "../chain/nonce-queues.ts";
import { createUniswapVenue } from "../chain/uniswap.ts";
import type { Signer } from "../keys/wallet-platform.ts";
import type { Wallet, Wallets } from "../keys/wallets.ts";
import { createApproval } from "./approval.ts";
import type { Ledger } from "./ledger.ts";
import { createPay } from "./pay.ts";
import { createSend } from "./send.ts";
import { createSpendingSteps } from "./spending-steps.ts";
import { createTrading } from "./trading.ts";

interface Deps extends Kernel {
  chains: Chains;
  wallets: Wallets;
  ledger: Ledger;
  nonceQueues: NonceQueues;
  signerOf(wallet: Wallet): Promise<Signer>;
}

export function createSpending(deps: Deps) {
  const { wallets, ledger, nonceQueues } = deps;
  const steps = createSpendingSteps(deps);
  const venue = createUniswapVenue({ ...deps, chainOf: steps.chainOf });
  const trading = createTrading({ steps, wallets, venue });
  return {
    steps,
    send: createSend({ steps, wallets }),
    trade: trading.trade,
    pay: createPay({ ...deps, steps }),
    approve: createApproval({ ledger, steps, trading, wakeStatement: nonceQueues.wakeStatement }),
  };
}

export type Spending = ReturnType<typeof createSpending>;
