// The skill that lets an agent spend from its owner's wallet: off by default, in the owner's conversations only, and
// within the owner's policy.
import { Type as t } from "@sinclair/typebox";
import type { Address } from "viem";
import { AppError } from "../../src/kernel/errors.ts";
import { MINUTE } from "../../src/kernel/util/time.ts";
import { defineTool, type Json, type Skill, type Tool, type ToolContext } from "../skills/index.ts";
import { formatDecimalUnits } from "./amounts.ts";
import type { Wallets } from "./keys/wallets.ts";
import { hashRequest } from "./spending/request-hash.ts";
import type { Spending } from "./spending/spending.ts";
import type { SpendContext } from "./spending/spending-steps.ts";

interface Deps {
  wallets: Wallets;
  /** Loaded by the first call of a tool that needs it. */
  spending(): Promise<Spending>;
}

const amount = (description: string) => t.String({ maxLength: 100, description });
const network = t.Optional(t.Union([t.Literal("testnet_chain"), t.Literal("mainnet_chain")]));
const DEFAULT_NETWORK = "testnet_chain";
/** Time limit of a tool: a payment waits for two responses and for the chain. */
const TIMEOUT_MS = 2 * MINUTE;

export function createWalletSkill(deps: Deps): Skill {
  const tools = walletTools(deps);
  return {
    id: "wallet",
    name: "Wallet",
    description:
      "Creates its owner's wallet, reads its balance, sends stablecoin, trades tokens, and pays for paid web content.",
    category: "finance",
    version: "1.0.0",
    enabledByDefault: false,
    tools: () => tools,
  };
}

function walletTools({ wallets, spending }: Deps): Tool[] {
  /**
   * The request key is derived from message and input: a turn that is repeated after a crash finds its earlier spend.
   */
  const toSpendContext = (
    kind: "send" | "trade" | "pay",
    input: object,
    { userId, agentId, inboxId }: ToolContext,
  ): SpendContext => ({
    userId,
    agentId,
    requestKey: `turn:${inboxId}:${hashRequest(kind, input)}`,
    requestedAt: Date.now(),
  });

  async function createWallet(userId: string) {
    try {
      return await wallets.create(userId, () => []);
    } catch (error) {
      // A concurrent call created it.
      const own =
        error instanceof AppError && error.code === "WALLET_EXISTS" ? await wallets.findOwn(userId) : undefined;
      if (!own) throw error;
      return own;
    }
  }
  const loadSpending = async () => ({ ...(await spending()), ...(await import("./spend-model.ts")) });
  const ownerOnly = true;
  const toJson = (answer: object) => JSON.parse(JSON.stringify(answer)) as Json;

  return [
    defineTool({
      name: "wallet_create",
      class: "write",
      effect: "idempotent",
      description:
        "Creates the owner's wallet, and returns its address. If there is a wallet already, returns the address of that one.",
      ownerOnly,
      input: t.Object({}),
      async execute(_, context) {
        const existing = await wallets.findOwn(context.userId);
        const { address } = existing ?? (await createWallet(context.userId));
        return { address, made: existing === undefined };
      },
    }),
    defineTool({
      name: "wallet_balance",
      class: "read",
      description: "Reads the balance of the owner's wallet: stablecoin in USD, and ether for fees.",
      ownerOnly,
      input: t.Object({ network }),
      async execute({ network = DEFAULT_NETWORK }, context) {
        const { address } = await wallets.require(context.userId);
        const { readWalletBalances } = await import("./chain/token-contract.ts");
        const { chainOf, stablecoinOf } = (await spending()).steps;
        const { balance, decimals, ether } = await readWalletBalances(
          chainOf(network),
          stablecoinOf(network),
          address as Address,
        );
        return {
          address,
          network,
          usd: formatDecimalUnits(balance, decimals),
          ether: formatDecimalUnits(ether, 18),
        };
      },
    }),
    defineTool({
      name: "wallet_send",
      class: "spend",
      effect: "idempotent",
      description:
        "Sends stablecoin from the owner's wallet. `waiting_approval` means that the owner has to approve it first.",
      ownerOnly,
      timeoutMs: TIMEOUT_MS,
      input: t.Object({
        to: t.String({ maxLength: 42, description: "0x…" }),
        amount: amount("USD, such as 1.50"),
        network,
      }),
      summarize: ({ to, amount, network = DEFAULT_NETWORK }) => `Send ${amount} USD to ${to} on ${network}`,
      async execute(input, context) {
        const { send, toSpendResponse } = await loadSpending();
        return toJson(toSpendResponse(await send(toSpendContext("send", input, context), input)));
      },
    }),
    defineTool({
      name: "wallet_trade",
      class: "spend",
      effect: "idempotent",
      description: "Trades a token of the owner's wallet for another. Tokens are USDC, WETH, or an address.",
      ownerOnly,
      timeoutMs: TIMEOUT_MS,
      input: t.Object({
        sell: t.String({ maxLength: 42 }),
        buy: t.String({ maxLength: 42 }),
        amount: amount("Amount of the token that is sold"),
        slippageBps: t.Optional(t.Integer({ minimum: 0, maximum: 1000 })),
        network,
      }),
      summarize: ({ sell, buy, amount, network = DEFAULT_NETWORK }) =>
        `Trade ${amount} ${sell} for ${buy} on ${network}`,
      async execute(input, context) {
        const { trade, toSpendResponse } = await loadSpending();
        return toJson(toSpendResponse(await trade(toSpendContext("trade", input, context), input)));
      },
    }),
    defineTool({
      name: "wallet_pay",
      class: "spend",
      effect: "idempotent",
      description:
        "Fetches a URL that may require payment (x402), pays for it from the owner's wallet, and returns the response.",
      ownerOnly,
      untrusted: true,
      timeoutMs: TIMEOUT_MS,
      input: t.Object({
        url: t.String({ maxLength: 2000 }),
        method: t.Optional(t.Union([t.Literal("GET"), t.Literal("POST")])),
        body: t.Optional(t.Unknown({ description: "Sent as JSON" })),
        maxAmount: amount("USD, at most"),
      }),
      summarize: ({ url, method = "GET", maxAmount }) => `Pay up to ${maxAmount} USD for ${method} ${url}`,
      async execute(input, context) {
        const { pay, toPayResponse } = await loadSpending();
        return toJson(toPayResponse(await pay(toSpendContext("pay", input, context), input)));
      },
    }),
  ];
}
