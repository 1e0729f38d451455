// The settings of the gate: which token, and how much of it.

import { anyText, contractAddress, tokenAmount } from "../../src/kernel/config/parsers.ts";
import { defineSettings } from "../../src/kernel/config/section.ts";
import { optional, withDefault } from "../../src/kernel/config/variable.ts";

export const gatingSettings = defineSettings({
  name: "gating",
  variables: {
    GATING_TOKEN_ADDRESS: optional(contractAddress, "Token whose holders pass the gate. Unset: the gate is off."),
    GATING_TOKEN_SYMBOL: withDefault(anyText, "TOKEN", "Symbol of that token."),
    GATING_MIN_BALANCE: withDefault(
      tokenAmount,
      "1000000000000000000",
      "Balance that passes the gate, in smallest units.",
    ),
  },
  needs: { GATING_TOKEN_ADDRESS: ["GATING_TOKEN_SYMBOL", "GATING_MIN_BALANCE"] },
  /** Without a token the gate is off. `minBalance` is in the token's smallest unit. */
  build: (v) => ({ token: v.GATING_TOKEN_ADDRESS, symbol: v.GATING_TOKEN_SYMBOL, minBalance: v.GATING_MIN_BALANCE }),
});
