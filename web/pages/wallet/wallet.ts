// What the wallet's routes answer, as far as the page uses it.

import { useQuery } from "@tanstack/react-query";
import { api, path } from "../../api/api.ts";
import type { Tone } from "../../parts/values/status.tsx";
import { type Text, text } from "../../viewer/language.ts";

export const TESTNET = "testnet_chain";
export const MAINNET = "mainnet_chain";
export type Network = typeof TESTNET | typeof MAINNET;

/** `GET /api/wallets/:address`. */
export interface Balances {
  /** In ether. */
  balance: string;
  /** In USD; left out where the chain has no such token. */
  stablecoin?: string;
  /** The address on the chain's explorer. */
  link: string;
}

/** An item of `GET /api/wallets`. */
export interface OwnWallet {
  address: string;
  kind: "own" | "managed" | "key";
  imported: boolean;
  email?: string;
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
  /** The transaction on the chain's explorer. */
  link?: string;
  fee?: string;
  amount: string;
  usd: string;
  asset: string;
  assetName?: string;
  network: Network;
  from: string;
  to: string | null;
  buy?: string;
  buyName?: string;
  quoted?: string;
  atLeast?: string;
  url?: string;
  agentId: string | null;
  createdAt: string;
}

export const WALLET_KEY = ["wallet"] as const;
export const WALLETS_KEY = ["wallet", "all"] as const;
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

interface NetworkWords {
  label: Text;
  meaning: Text;
  /** Its proper name, which other wallets show. */
  name: string;
}

export const NETWORKS: Readonly<Record<Network, NetworkWords>> = {
  [TESTNET]: {
    label: text("Test network"),
    meaning: text("Base Sepolia, a test network: money here is worth nothing."),
    name: "Base Sepolia",
  },
  [MAINNET]: { label: text("Main network"), meaning: text("Base, a main network: this is real money."), name: "Base" },
};

/** The chain is asked again every 30 seconds; the server has waited for it as long as it makes sense. */
export const useBalances = (address: string, network: Network) =>
  useQuery({
    queryKey: ["wallet", "balance", address, network],
    queryFn: () => api.get<Balances>(path`/api/wallets/${address}`, { network }),
    refetchInterval: 30_000,
    retry: false,
  });

export const isEmpty = ({ balance, stablecoin = "0" }: Balances): boolean =>
  Number(balance) === 0 && Number(stablecoin) === 0;

const KINDS: Readonly<Record<string, { done: Text; wanted: Text }>> = {
  send: { done: text("Sent"), wanted: text("Send") },
  trade: { done: text("Traded"), wanted: text("Trade") },
  pay: { done: text("Paid"), wanted: text("Pay") },
};
export const kindOf = (kind: string) => KINDS[kind];

/** "0x1234…abcd". */
export const shortAddress = (address: string): string =>
  /^0x[\da-f]{40}$/i.test(address) ? `${address.slice(0, 6)}…${address.slice(-4)}` : address;
