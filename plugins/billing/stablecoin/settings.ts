// The settings of credits bought with a stablecoin, which is off without an address that receives it.

import { bytes32, contractAddress, microUsd, oneOf, type Parser, parser } from "../../../src/kernel/config/parsers.ts";
import { defineSettings, error } from "../../../src/kernel/config/section.ts";
import { optional, withDefault } from "../../../src/kernel/config/variable.ts";

const confirmations: Parser<number> = parser("a whole number from 1 to 1000", (text) =>
  /^[1-9]\d{0,3}$/.test(text) && Number(text) <= 1_000 ? Number(text) : undefined,
);

export const stablecoinSettings = defineSettings({
  name: "stablecoin",
  variables: {
    STABLECOIN_PAY_TO: optional(
      contractAddress,
      "Your address to which people transfer stablecoin for credits; see [billing.md](billing.md). Unset: off.",
    ),
    STABLECOIN_PAY_NETWORK: withDefault(
      oneOf("mainnet_chain", "testnet_chain"),
      "mainnet_chain",
      "The chain of these payments.",
    ),
    STABLECOIN_CREDIT_PRICE: withDefault(
      microUsd,
      "1",
      "What 100 credits cost in stablecoin, in US dollars, such as `1.20`.",
    ),
    STABLECOIN_CONFIRMATIONS: withDefault(
      confirmations,
      "12",
      "Blocks, with its own, after which a transfer counts, since a chain may replace its last blocks.",
    ),
    X402_SETTLER_KEY: optional(
      bytes32,
      "Private key of a wallet with a little ether, used for nothing else, that settles payments by x402. Unset: only transfers are taken.",
      "secret",
    ),
  },
  needs: {
    STABLECOIN_PAY_TO: [
      ...["STABLECOIN_PAY_NETWORK", "STABLECOIN_CREDIT_PRICE"],
      ...["STABLECOIN_CONFIRMATIONS", "X402_SETTLER_KEY"],
    ],
  },
  /** `pay` is undefined while it is off; `price` is in micro-USD of 100 credits. */
  build: (v) => ({
    pay: v.STABLECOIN_PAY_TO
      ? {
          to: v.STABLECOIN_PAY_TO,
          network: v.STABLECOIN_PAY_NETWORK,
          price: v.STABLECOIN_CREDIT_PRICE,
          confirmations: v.STABLECOIN_CONFIRMATIONS,
          settlerKey: v.X402_SETTLER_KEY,
        }
      : undefined,
  }),
  validate: (v) => [
    ...(v.STABLECOIN_CREDIT_PRICE === 0 ? [error("STABLECOIN_CREDIT_PRICE", "has to be more than 0.")] : []),
  ],
});
