// What the wallet's routes answer, as far as the page uses it.

import { type Text, text } from "../../app/language.ts";
import type { Tone } from "../../parts/status.tsx";

/** `GET /api/wallet`. */
export interface Balances {
  /** In ether. */
  balance?: string;
  /** In USD; left out where the chain has no such token. */
  stablecoin?: string;
}

/** What is known without asking the chain. */
export interface OwnWallet {
  address: string;
  network: string;
}

/** `GET /api/wallet/policy`; amounts are decimal texts in USD. */
export interface Policy {
  perTransaction: string;
  perDay: string;
  approvalAbove: string | null;
  recipients: string[] | null;
  enabled: boolean;
}

/** An item of `GET /api/wallet/spends`. */
export interface Spend {
  id: string;
  kind: string;
  status: "waiting_approval" | "pending" | "submitted" | "confirmed" | "failed";
  reason?: string;
  hash?: string;
  amount: string;
  usd: string;
  asset: string;
  network: string;
  to: string | null;
  buy?: string;
  quoted?: string;
  atLeast?: string;
  url?: string;
  agentId: string | null;
  createdAt: string;
}

export const WALLET_KEY = ["wallet"] as const;
export const BALANCE_KEY = ["wallet", "balance"] as const;
export const POLICY_KEY = ["wallet", "policy"] as const;
export const SPENDS_KEY = ["wallet", "spends"] as const;

export const STATES: Readonly<Record<Spend["status"], { label: Text; tone: Tone }>> = {
  waiting_approval: { label: text("Waits for you"), tone: "warn" },
  pending: { label: text("Being prepared"), tone: "busy" },
  submitted: { label: text("On its way"), tone: "busy" },
  confirmed: { label: text("Done"), tone: "good" },
  failed: { label: text("Failed"), tone: "bad" },
};

/** Why a spend failed. */
export const REASONS: Readonly<Record<string, Text>> = {
  REVERTED: text("The chain has refused it."),
  REFUSED: text("The chain would refuse it."),
  INSUFFICIENT_FUNDS: text("The wallet has too little."),
  FEES_TOO_HIGH: text("The fees were too high."),
  POLICY_DENIED: text("Your limits don't allow it."),
  REJECTED: text("You rejected it."),
  EXPIRED: text("Nobody approved it in time."),
  NONCE_USED: text("Another payment took its place."),
  CANCELLED: text("It was cancelled."),
};

const NETWORKS: Readonly<Record<string, Text>> = {
  testnet_chain: text("Test network: money here is worth nothing"),
  mainnet_chain: text("Main network: real money"),
};
export const networkOf = (network: string): Text | undefined => NETWORKS[network];

const KINDS: Readonly<Record<string, { done: Text; wanted: Text }>> = {
  send: { done: text("Sent"), wanted: text("Send") },
  trade: { done: text("Traded"), wanted: text("Trade") },
  pay: { done: text("Paid"), wanted: text("Pay") },
};
export const kindOf = (kind: string) => KINDS[kind];

/** "0x1234…abcd". */
export const shortAddress = (address: string): string =>
  /^0x[\da-f]{40}$/i.test(address) ? `${address.slice(0, 6)}…${address.slice(-4)}` : address;
