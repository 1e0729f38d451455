// The web routes that list the caller's wallets of all kinds, and read the balance of one on either chain.

import { Elysia, type Static } from "elysia";
import type { Address } from "viem";
import { documentErrors } from "../../src/kernel/http/openapi/route-documentation.ts";
import type { Kernel, ServiceOf } from "../../src/kernel/plugin.ts";
import type { auth } from "../auth/index.ts";
import type { Chains } from "../chains/index.ts";
import { readFormattedBalances } from "./chain/token-contract.ts";
import type { Wallet, Wallets } from "./keys/wallets.ts";
import { networkQuery, walletDetailsResponse, type walletItemResponse, walletListResponse } from "./model.ts";
import { walletSettings } from "./settings.ts";
import { tags } from "./wallet-routes.ts";

interface Deps extends Pick<Kernel, "config"> {
  chains: Chains;
  identities: ServiceOf<typeof auth>["identities"];
  wallets: Wallets;
}

const KINDS = { user: "own", managed: "managed", client: "key" } as const;

const toItem = ({ address, kind, imported, name, createdAt }: Wallet): Static<typeof walletItemResponse> => ({
  address,
  kind: KINDS[kind],
  imported,
  ...(kind === "managed" && { email: name }),
  createdAt: new Date(createdAt).toISOString(),
});

export function walletListRoutes({ config, chains, identities, wallets }: Deps) {
  const { contracts } = config.of(walletSettings);
  return new Elysia({ name: "wallet.list" })
    .use(identities.guards)
    .get(
      "/api/wallets",
      async ({ identity }) => {
        const items = (await wallets.list(identity.user.id)).map(toItem);
        return { wallets: items, count: items.length };
      },
      {
        signedIn: "read",
        response: { 200: walletListResponse },
        detail: {
          tags,
          summary: "List the caller's wallets",
          description: "All kinds, the own one first. At most 100. Balances are read from the chain one by one.",
        },
      },
    )
    .get(
      "/api/wallets/:address",
      async ({ identity, params: { address }, query: { network = "testnet_chain" } }) => {
        const wallet = await wallets.require(identity.user.id, address);
        const key = network === "mainnet_chain" ? "mainnet" : "testnet";
        const balances = await readFormattedBalances(
          chains[key],
          contracts[key].stablecoin as Address,
          wallet.address as Address,
        );
        const link = `${chains[key].explorerUrl}/address/${wallet.address}`;
        return { ...toItem(wallet), network, ...balances, link };
      },
      {
        signedIn: "read",
        query: networkQuery,
        response: { 200: walletDetailsResponse },
        detail: {
          tags,
          summary: "Get one of the caller's wallets with its balance",
          description:
            "The balance is read from the chain `network`. `link` opens the address in the chain's explorer.",
          ...documentErrors({ 404: "NO_WALLET", 500: "CHAIN_UNAVAILABLE" }),
        },
      },
    );
}
