// What works with an address for stablecoin; loaded at the first use, so that a service without one loads nothing of it.

import type { Address, Hex } from "viem";
import type { SettingsOf } from "../../../src/kernel/config/section.ts";
import type { Kernel, ServiceOf } from "../../../src/kernel/plugin.ts";
import { once } from "../../../src/kernel/util/cache.ts";
import type { AuditRecorder, auth } from "../../auth/index.ts";
import type { Chains } from "../../chains/index.ts";
import { walletSettings } from "../../wallet/settings.ts";
import { createPaymentNews } from "../payment-news.ts";
import { createCreditTransfers } from "./credit-transfers.ts";
import type { stablecoinSettings } from "./settings.ts";
import { createSettlers } from "./settler.ts";
import { createTransferReader } from "./transfer-reader.ts";
import { createTransferRows } from "./transfer-rows.ts";
import { createTransfers } from "./transfers.ts";
import { createX402 } from "./x402.ts";

export type PaySettings = NonNullable<SettingsOf<typeof stablecoinSettings>["pay"]>;

interface Deps {
  kernel: Kernel;
  pay: PaySettings;
  chains: Chains;
  accounts: Pick<ServiceOf<typeof auth>, "users" | "mails" | "findWalletOwner" | "listWalletAddresses">;
  audit: AuditRecorder;
}

export type ActiveStablecoin = ReturnType<typeof activate>;

export function activate({ kernel, pay, chains, accounts, audit }: Deps) {
  const { to, network, price, confirmations, settlerKey } = pay;
  const side = network === "mainnet_chain" ? "mainnet" : "testnet";
  const chain = chains[side];
  const asset = kernel.config.of(walletSettings).contracts[side].stablecoin as Address;
  const payTo = to as Address;
  const rows = createTransferRows(kernel, chain.id);
  const reader = createTransferReader(chain, { token: asset, payTo });
  const news = createPaymentNews(kernel, audit);
  const credits = createCreditTransfers({ ...kernel, rows, reader, accounts, news, price });
  const token = once(reader.token);
  const transfers = createTransfers({ ...kernel, rows, reader, credits, token, confirmations });
  const x402 =
    settlerKey &&
    createX402({
      ...kernel,
      ...{ chain, rows, transfers, token, asset, payTo, price },
      createSettler: createSettlers(chain, settlerKey),
    });

  return {
    watch: transfers.watch,
    x402: x402 || undefined,
    /** How an account pays, and what of its payments is known. */
    async describe(userId: string) {
      const [wallets, known, restMicroUsd] = await Promise.all([
        accounts.listWalletAddresses(userId),
        rows.list(userId),
        rows.restOf(userId),
      ]);
      return { network, chainId: chain.id, asset, payTo, price, confirmations, wallets, known, restMicroUsd };
    },
    /** Throws the errors of `Transfers.lookUp`. The first of the transfers that are not somebody else's. */
    async find(userId: string, hash: Hex) {
      const found = await transfers.lookUp(hash);
      return found.find((row) => row.userId === null || row.userId === userId);
    },
    linkOf: (hash: string) => `${chain.explorerUrl}/tx/${hash}`,
  };
}
