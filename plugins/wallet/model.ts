// The request and response schemas of wallets, written by hand so that no key column can reach a response.
import { type Static, t } from "elysia";

const time = t.String({ description: "ISO 8601" });
const yes = t.Literal(true);
const address = t.String({ description: "0x and 40 hex digits, with its checksum" });
const network = t.String({ description: "`testnet_chain` or `mainnet_chain`" });

/** The features that `GET /api/wallet` lists while a managed platform is configured. */
export const FEATURES = ["create_wallet", "get_balance", "send_stablecoin", "trade_tokens", "x402_payments"] as const;
export const CHAINS = ["mainnet_chain", "testnet_chain"];

const ownWallet = {
  address: t.Union([address, t.Null()]),
  balance: t.String({ description: "In ether" }),
  stablecoin: t.Optional(t.String({ description: "In USD; left out if the token can't be read on this chain" })),
  network,
  hasWallet: t.Boolean(),
  createdAt: t.Optional(time),
  message: t.Optional(t.String()),
};
export const ownWalletResponse = t.Object(ownWallet);
export type OwnWallet = Static<typeof ownWalletResponse>;

export const walletResponse = t.Object({
  agenticWallet: t.Optional(
    t.Object(
      { status: t.Literal("configured"), projectId: t.String(), features: t.Array(t.String()) },
      { description: "Only if the managed platform is configured" },
    ),
  ),
  instructions: t.Optional(t.String()),
  ...t.Partial(t.Object(ownWallet)).properties,
});

export const actionBody = t.Object({
  action: t.Union([t.Literal("create"), t.Literal("get_seed"), t.Literal("export_seed")], {
    error: "The action is one of: create, get_seed, export_seed.",
  }),
});

export const actionResponse = t.Object({
  address,
  network,
  message: t.Optional(t.String()),
  createdAt: t.Optional(time),
  warning: t.Optional(t.String()),
});

export const addressResponse = t.Object({
  authenticated: t.Boolean(),
  address: t.Optional(address),
  needsAuth: t.Optional(yes),
  message: t.Optional(t.String()),
  error: t.Optional(t.String()),
  setup: t.Optional(t.String()),
});

export const managedBody = t.Object({
  email: t.String({
    maxLength: 320,
    pattern: "^\\s*[^\\s@]+@[^\\s@]+\\.[^\\s@]+\\s*$",
    error: "Give an email address.",
  }),
});

export const managedResponse = t.Object({
  success: yes,
  walletAddress: address,
  walletId: t.String(),
  networks: t.Array(t.String()),
});

export const statusResponse = t.Object({
  status: t.Literal("ok"),
  type: t.Literal("evm_wallet"),
  supportedChains: t.Array(t.String()),
});

export const clientBody = t.Object({
  privateKey: t.Optional(
    t.Union([t.String({ pattern: "^0x[0-9a-fA-F]{64}$" }), t.Null()], {
      description: "0x and 64 hex digits; a new key is made if left out. It is stored encrypted and never shown",
      error: "A private key is 0x and 64 hex digits.",
    }),
  ),
});

export const clientResponse = t.Object({ success: yes, address, network });

const walletItem = {
  address,
  kind: t.Union([t.Literal("own"), t.Literal("managed"), t.Literal("key")], {
    description:
      "`own`: the account's own wallet, which agents use. `managed`: made for an email address. `key`: made from a private key",
  }),
  imported: t.Boolean({
    description: "The owner gave its key, so whoever else has that key can spend without a policy",
  }),
  email: t.Optional(t.String({ description: "Managed wallets: the email address" })),
  createdAt: time,
};
export const walletItemResponse = t.Object(walletItem);
export const walletListResponse = t.Object({ wallets: t.Array(walletItemResponse), count: t.Number() });

export const networkQuery = t.Object({
  network: t.Optional(
    t.Union([t.Literal("testnet_chain"), t.Literal("mainnet_chain")], {
      description: "`testnet_chain` if left out",
      error: "The network is testnet_chain or mainnet_chain.",
    }),
  ),
});

export const walletDetailsResponse = t.Object({
  ...walletItem,
  network,
  balance: ownWallet.balance,
  stablecoin: ownWallet.stablecoin,
  link: t.String({ description: "The address on the chain's explorer" }),
});
