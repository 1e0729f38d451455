// Request and response schemas of credits bought with a stablecoin.
import { t } from "elysia";

const nullable = <Schema extends Parameters<typeof t.Union>[0][number]>(schema: Schema) => t.Union([schema, t.Null()]);
const usd = (description: string) => t.String({ description, examples: ["5.25"] });

const transfer = t.Object(
  {
    transaction: t.String({ description: "Its hash" }),
    link: t.String({ description: "To the chain's explorer" }),
    state: t.Union([t.Literal("pending"), t.Literal("unclaimed"), t.Literal("credited")], {
      description:
        "`pending`: its block may still be replaced; `unclaimed`: its wallet is linked to no account; `credited`",
    }),
    from: t.String(),
    usd: usd("What was paid"),
    credits: nullable(t.Integer({ description: "Null until it is credited" })),
    at: t.String({ description: "ISO 8601" }),
  },
  { title: "StablecoinTransfer" },
);

export const stablecoinState = t.Object({
  enabled: t.Boolean({ description: "Whether credits are sold for stablecoin here" }),
  payment: nullable(
    t.Object(
      {
        network: t.String({ description: "`mainnet_chain` or `testnet_chain`" }),
        chainId: t.Integer(),
        asset: t.String({ description: "The stablecoin's contract" }),
        payTo: t.String({ description: "The address that receives it" }),
        usdPer100Credits: usd("The price"),
        confirmations: t.Integer({ description: "Blocks until a transfer counts" }),
        x402: t.Boolean({ description: "Whether `POST /api/billing/credits/x402` works" }),
        wallets: t.Array(t.String(), { description: "Of the account: what they transfer is credited to it" }),
        restUsd: usd("What earlier payments bought below a whole credit; the next one adds to it"),
      },
      { description: "How to pay; null: not here" },
    ),
  ),
  transfers: t.Array(transfer, { description: "Of the account, the newest first, at most 20" }),
});

export const transactionBody = t.Object({
  transaction: t.String({
    pattern: "^0x[0-9a-fA-F]{64}$",
    error: "Give the hash of the transaction: 0x and 64 hex digits.",
  }),
});
export const transferResult = transfer;

export const x402Body = t.Object({
  credits: t.Integer({ minimum: 100, maximum: 1_000_000, error: "Credits are sold from 100 up to 1000000." }),
});
export const x402Result = t.Object({
  state: t.Union([t.Literal("pending"), t.Literal("credited")], {
    description: "`pending`: it is paid, and credited as soon as its block is deep enough",
  }),
  transaction: t.String(),
  credits: nullable(t.Integer()),
});
