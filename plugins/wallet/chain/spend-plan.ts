// The plan of a spend, stored in the ledger as JSON: contract calls to make one after the other, or a payment
// authorization.
import type { Address, Hex } from "viem";

/** A contract call: one transaction. */
export interface Call {
  to: Address;
  data: Hex;
}

/** An authorization (EIP-3009). All fields are absent until it is signed. */
export interface PaymentAuthorization {
  nonce?: Hex;
  /** Seconds since 1970; from then on it can't be used. */
  validBefore?: number;
  /** The newest block before it was signed; it was used in none before that. */
  since?: number;
}

export type SpendPlan =
  | {
      calls: Call[];
      /** Seconds since 1970; later the calls are not signed, because the contract would revert them. */
      validUntil?: number;
    }
  | { payment: PaymentAuthorization };

export const serializePlan = (plan: SpendPlan) => JSON.stringify(plan);
export const parsePlan = (text: string) => JSON.parse(text) as SpendPlan;
