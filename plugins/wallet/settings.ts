// The settings of wallets: the platform that holds keys, and the contracts that spending uses on each chain.

import { anyText, contractAddress, httpUrl, oneOf } from "../../src/kernel/config/parsers.ts";
import { defineSettings, warning, warnOfGiven } from "../../src/kernel/config/section.ts";
import { optional, withDefault } from "../../src/kernel/config/variable.ts";

export const walletSettings = defineSettings({
  name: "wallet",
  variables: {
    WALLET_PLATFORM: withDefault(
      oneOf("none", "local", "cdp"),
      "none",
      "Managed wallets: `local` keeps keys here, encrypted; `cdp` is the Coinbase Developer Platform.",
    ),
    WALLET_PLATFORM_PROJECT_ID: optional(anyText, "Project shown, shortened, in the platform's status."),
    CDP_API_KEY_ID: optional(anyText, "With `WALLET_PLATFORM=cdp`: API key id."),
    CDP_API_KEY_SECRET: optional(anyText, "With `WALLET_PLATFORM=cdp`: API key secret.", "secret"),
    CDP_WALLET_SECRET: optional(anyText, "With `WALLET_PLATFORM=cdp`: wallet secret.", "secret"),
    CDP_BASE_PATH: optional(httpUrl, "With `WALLET_PLATFORM=cdp`: another address of the platform."),
    STABLECOIN_ADDRESS_MAINNET: withDefault(
      contractAddress,
      "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
      "Stablecoin of `mainnet_chain`; USDC's.",
    ),
    STABLECOIN_ADDRESS_TESTNET: withDefault(
      contractAddress,
      "0x036CbD53842c5426634e7929541eC2318f3dCF7e",
      "Stablecoin of `testnet_chain`; USDC's.",
    ),
    SWAP_ROUTER_ADDRESS_MAINNET: withDefault(
      contractAddress,
      "0x2626664c2603336E57B271c5C0b26F421741e481",
      "Uniswap v3's SwapRouter02 on `mainnet_chain`.",
    ),
    SWAP_ROUTER_ADDRESS_TESTNET: withDefault(
      contractAddress,
      "0x94cC0AaC535CCDB3C01d6787D6413C739ae12bc4",
      "The same on `testnet_chain`.",
    ),
    SWAP_QUOTER_ADDRESS_MAINNET: withDefault(
      contractAddress,
      "0x3d4e44Eb1374240CE5F1B871ab261CD16335B76a",
      "Uniswap v3's QuoterV2 on `mainnet_chain`.",
    ),
    SWAP_QUOTER_ADDRESS_TESTNET: withDefault(
      contractAddress,
      "0xC5290058841028F1614F3A6F0F5816cAd0df5E27",
      "The same on `testnet_chain`.",
    ),
  },
  needs: {
    "WALLET_PLATFORM=cdp": ["CDP_API_KEY_ID", "CDP_API_KEY_SECRET", "CDP_WALLET_SECRET", "CDP_BASE_PATH"],
  },
  build: (v) => ({
    platform: {
      kind: v.WALLET_PLATFORM,
      projectId: v.WALLET_PLATFORM_PROJECT_ID,
      cdp: {
        apiKeyId: v.CDP_API_KEY_ID,
        apiKeySecret: v.CDP_API_KEY_SECRET,
        walletSecret: v.CDP_WALLET_SECRET,
        basePath: v.CDP_BASE_PATH,
      },
    },
    contracts: {
      mainnet: {
        stablecoin: v.STABLECOIN_ADDRESS_MAINNET,
        swapRouter: v.SWAP_ROUTER_ADDRESS_MAINNET,
        swapQuoter: v.SWAP_QUOTER_ADDRESS_MAINNET,
      },
      testnet: {
        stablecoin: v.STABLECOIN_ADDRESS_TESTNET,
        swapRouter: v.SWAP_ROUTER_ADDRESS_TESTNET,
        swapQuoter: v.SWAP_QUOTER_ADDRESS_TESTNET,
      },
    },
  }),
  validate: (v, { sources }) => [
    ...(v.WALLET_PLATFORM === "cdp" && !(v.CDP_API_KEY_ID && v.CDP_API_KEY_SECRET && v.CDP_WALLET_SECRET)
      ? [warning("WALLET_PLATFORM", "cdp needs CDP_API_KEY_ID, CDP_API_KEY_SECRET and CDP_WALLET_SECRET.")]
      : []),
    ...(v.WALLET_PLATFORM === "none"
      ? warnOfGiven(["WALLET_PLATFORM_PROJECT_ID"], sources, "is set without WALLET_PLATFORM, so it has no effect.")
      : []),
  ],
});
