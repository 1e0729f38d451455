// The request and response schemas of spending, and the conversion of policy and ledger rows to them.
import { type Static, t } from "elysia";
import { AppError } from "../../src/kernel/errors.ts";
import { cursor, nextCursor } from "../../src/kernel/http/body/response-types.ts";
import { formatDecimalUnits, USD_DECIMALS } from "./amounts.ts";
import type { Spend } from "./spending/ledger.ts";
import type { PaymentResult } from "./spending/pay.ts";
import { type Policy, policyDenied } from "./spending/policy.ts";
import { insufficientFunds, requireAddress, requireUsd } from "./spending/spending-steps.ts";

const amount = (description: string) =>
  t.String({ maxLength: 100, description, error: "An amount is a decimal text, such as 1.50." });
const network = t.Optional(
  t.Union([t.Literal("testnet_chain"), t.Literal("mainnet_chain")], {
    description: "`testnet_chain` if left out",
    error: "The network is testnet_chain or mainnet_chain.",
  }),
);
const from = t.Optional(
  t.String({
    maxLength: 42,
    description: "Address of one of the caller's wallets; their own wallet if left out",
    error: "Give an address.",
  }),
);

export const sendBody = t.Object({
  to: t.String({ maxLength: 42, error: "Give the address to send to." }),
  amount: amount("USD, of the stablecoin"),
  network,
  from,
});

const token = (description: string) =>
  t.String({ maxLength: 42, description, error: "Give a token: USDC, WETH, or its address." });

export const tradeBody = t.Object({
  sell: token("`USDC` for the stablecoin, `WETH`, or a token's address"),
  buy: token("In the same form as `sell`"),
  amount: amount("Amount of the token that is sold"),
  slippageBps: t.Optional(
    t.Number({
      minimum: 0,
      maximum: 1000,
      multipleOf: 1,
      description: "How much worse than the quote the price may get, in hundredths of a percent; 50 if left out",
      error: "The slippage is a whole number of basis points from 0 to 1000.",
    }),
  ),
  network,
  from,
});

export const payBody = t.Object({
  url: t.String({ maxLength: 2000, error: "Give the URL that you pay for." }),
  method: t.Optional(
    t.Union([t.Literal("GET"), t.Literal("POST"), t.Literal("PUT"), t.Literal("PATCH"), t.Literal("DELETE")], {
      description: "If left out: `POST` with a body, else `GET`",
      error: "The method is GET, POST, PUT, PATCH or DELETE.",
    }),
  ),
  body: t.Optional(t.Unknown({ description: "Sent as JSON" })),
  maxAmount: amount("USD, at most"),
  from,
});

const status = t.Union(
  [
    t.Literal("waiting_approval"),
    t.Literal("pending"),
    t.Literal("submitted"),
    t.Literal("confirmed"),
    t.Literal("failed"),
  ],
  {
    description:
      "`waiting_approval`: the owner has to approve it. `pending`: reserved or signed. `submitted`: a node has accepted it",
  },
);
const reason = t.Optional(
  t.String({
    description:
      "Reason of a failure: `REVERTED`, `REFUSED`, `INSUFFICIENT_FUNDS`, `FEES_TOO_HIGH`, `POLICY_DENIED`, `REJECTED`, `EXPIRED`, `NONCE_USED`, `CANCELLED`",
  }),
);

export const spendResponse = t.Object({
  success: t.Boolean(),
  id: t.String(),
  hash: t.Optional(t.String()),
  status,
  reason,
  amount: t.String(),
  network: t.String(),
});

export const payResponse = t.Object({
  ...spendResponse.properties,
  id: t.Optional(t.String()),
  status: t.Union([...status.anyOf, t.Literal("free")], { description: "`free`: the server requested no payment" }),
  network: t.String({ description: "Empty if nothing was paid" }),
  response: t.Optional(
    t.Object(
      { status: t.Number(), body: t.String() },
      { description: "The server's response; a repeated request may come without it" },
    ),
  ),
});

const tokenName = (field: string) =>
  t.Optional(
    t.Union([t.Literal("USDC"), t.Literal("WETH")], {
      description: `The name of \`${field}\`, if it is the configured stablecoin or WETH. Anybody can give a token any name, so no other is shown`,
    }),
  );

export const spendItem = t.Object({
  id: t.String(),
  kind: t.String(),
  status,
  reason,
  hash: t.Optional(t.String()),
  amount: t.String(),
  usd: t.String({ description: "The value that counts against the policy" }),
  asset: t.String({ description: "The token's address" }),
  assetName: tokenName("asset"),
  network: t.String(),
  link: t.Optional(t.String({ description: "The transaction on the chain's explorer, once it is signed" })),
  from: t.String(),
  to: t.Union([t.String(), t.Null()]),
  buy: t.Optional(t.String({ description: "Trades: the token that is bought" })),
  buyName: tokenName("buy"),
  quoted: t.Optional(
    t.String({ description: "Trades: the amount bought at the price of the request or the approval" }),
  ),
  atLeast: t.Optional(
    t.String({ description: "Trades: the least amount bought; for less, the trade is not executed" }),
  ),
  url: t.Optional(t.String({ description: "Payments: the URL that is paid for" })),
  fee: t.Optional(t.String({ description: "Ether paid for gas" })),
  agentId: t.Union([t.String(), t.Null()]),
  createdAt: t.String({ description: "ISO 8601" }),
});
export const spendList = t.Object({
  spends: t.Array(spendItem),
  count: t.Number({ description: "Number of all spends that fit the query" }),
  nextCursor,
});
export const spendQuery = t.Object({
  limit: t.Optional(t.String({ description: "1 to 100, default 50" })),
  offset: t.Optional(t.String({ description: "Spends to skip, default 0" })),
  cursor,
  agentId: t.Optional(t.String({ maxLength: 64, description: "Only what this agent has asked for" })),
});

const usdText = (description: string) =>
  t.Union([t.String({ maxLength: 100 }), t.Number()], {
    description,
    error: "An amount is a decimal text, such as 1.50.",
  });
const addresses = t.Union([t.Array(t.String({ maxLength: 42 }), { maxItems: 1000 }), t.Null()], {
  description: "Addresses; null for any",
  error: "Give a list of addresses, or null.",
});

/** Fields that are left out stay unchanged. */
export const policyBody = t.Object({
  perTransaction: t.Optional(usdText("Maximum USD of one spend")),
  perDay: t.Optional(usdText("Maximum USD within any 24 hours")),
  recipients: t.Optional(addresses),
  assets: t.Optional(addresses),
  approvalAbove: t.Optional(
    t.Union([usdText("Spends of more USD need the owner's approval; null: none does"), t.Null()]),
  ),
  enabled: t.Optional(t.Boolean({ description: "False: no spend is signed", error: "`enabled` is true or false." })),
});

const list = t.Union([t.Array(t.String()), t.Null()]);
export const policyResponse = t.Object({
  perTransaction: t.String(),
  perDay: t.String(),
  recipients: list,
  assets: list,
  approvalAbove: t.Union([t.String(), t.Null()]),
  enabled: t.Boolean(),
});

export const formatUsd = (millionths: number) => formatDecimalUnits(BigInt(millionths), USD_DECIMALS);

export const toPolicyResponse = ({
  perTransaction,
  perDay,
  approvalAbove,
  ...policy
}: Policy): Static<typeof policyResponse> => ({
  ...policy,
  perTransaction: formatUsd(perTransaction),
  perDay: formatUsd(perDay),
  approvalAbove: approvalAbove === null ? null : formatUsd(approvalAbove),
});

/** The policy change in a request. Throws 400 for invalid amounts and addresses. */
export async function parsePolicyChange(body: Static<typeof policyBody>): Promise<Partial<Policy>> {
  const { perTransaction, perDay, recipients, assets, approvalAbove, enabled } = body;
  return {
    ...(perTransaction !== undefined && { perTransaction: parseLimit("perTransaction", perTransaction) }),
    ...(perDay !== undefined && { perDay: parseLimit("perDay", perDay) }),
    ...(recipients !== undefined && { recipients: await parseAddressList("recipients", recipients) }),
    ...(assets !== undefined && { assets: await parseAddressList("assets", assets) }),
    ...(approvalAbove !== undefined && {
      approvalAbove: approvalAbove === null ? null : parseLimit("approvalAbove", approvalAbove),
    }),
    ...(enabled !== undefined && { enabled }),
  };
}

const parseLimit = (path: string, amount: string | number) =>
  /^0+(?:\.0*)?$/.test(String(amount)) ? 0 : Number(requireUsd(path, String(amount)));

async function parseAddressList(path: string, list: string[] | null): Promise<string[] | null> {
  if (list === null) return null;
  const found = await Promise.all(list.map((text, at) => requireAddress(`${path}.${at}`, text)));
  return [...new Set(found.map((address) => address.toLowerCase()))];
}

export const STATUS_BY_STATE = {
  waiting: "waiting_approval",
  reserved: "pending",
  signed: "pending",
  sent: "submitted",
  confirmed: "confirmed",
  failed: "failed",
} as const;

/**
 * The response to a spend request. Throws an error if the spend failed unsigned for a reason with its own error code.
 */
export function toSpendResponse(spend: Spend): Static<typeof spendResponse> {
  const { id, state, reason, hash, amount, network } = spend;
  const unsigned = state === "failed" && hash === null;
  if (unsigned && reason === "INSUFFICIENT_FUNDS")
    throw insufficientFunds("The wallet has too little for this. Add funds, or spend less.");
  if (unsigned && reason === "POLICY_DENIED") throw policyDenied("Spending was switched off in the meantime.");
  if (unsigned && reason === "REFUSED") throw spendRefused();
  if (unsigned && reason === "FEES_TOO_HIGH") throw feesTooHigh();
  return {
    success: state !== "failed",
    id,
    ...definedFields({ hash, reason }),
    status: STATUS_BY_STATE[state],
    amount,
    network,
  };
}

/** The response to a payment request; without a spend, the server requested no payment. */
export function toPayResponse({ spend, response }: PaymentResult): Static<typeof payResponse> {
  const definedFields = response && { response };
  return spend
    ? { ...toSpendResponse(spend), ...definedFields }
    : { success: true, status: "free", amount: "0", network: "", ...definedFields };
}

export const definedFields = ({ hash, reason }: Pick<Spend, "hash" | "reason">) => ({
  ...(hash !== null && { hash }),
  ...(reason !== null && { reason }),
});

const spendRefused = () => {
  const text = "The chain would revert this transaction. Check the recipient and the token.";
  return new AppError(400, "SPEND_REFUSED", text);
};

const feesTooHigh = () => {
  const text = "The chain's fees are above the limit for a transaction. Try again later.";
  return new AppError(400, "FEES_TOO_HIGH", text);
};
