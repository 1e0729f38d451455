// The settings of the two chains: their ids, and the addresses of their RPC nodes and explorers.

import { httpUrl, urlWithScheme } from "../../src/kernel/config/parsers.ts";
import { defineSettings } from "../../src/kernel/config/section.ts";
import { withDefault } from "../../src/kernel/config/variable.ts";

export const chainSettings = defineSettings({
  name: "chains",
  variables: {
    MAINNET_RPC_URL: withDefault(
      urlWithScheme("http", "https"),
      "https://mainnet.base.org",
      "RPC of `mainnet_chain` (Base, chain id 8453).",
      "address",
    ),
    TESTNET_RPC_URL: withDefault(
      urlWithScheme("http", "https"),
      "https://sepolia.base.org",
      "RPC of `testnet_chain` (Base Sepolia, chain id 84532).",
      "address",
    ),
    MAINNET_EXPLORER_URL: withDefault(
      httpUrl,
      "https://basescan.org",
      "Site that shows the transactions of `mainnet_chain` below `/tx/`. Only linked to.",
    ),
    TESTNET_EXPLORER_URL: withDefault(httpUrl, "https://sepolia.basescan.org", "The same for `testnet_chain`."),
  },
  build: (v) => ({
    mainnet: { id: 8453, rpcUrl: v.MAINNET_RPC_URL, explorerUrl: v.MAINNET_EXPLORER_URL },
    testnet: { id: 84_532, rpcUrl: v.TESTNET_RPC_URL, explorerUrl: v.TESTNET_EXPLORER_URL },
  }),
});
