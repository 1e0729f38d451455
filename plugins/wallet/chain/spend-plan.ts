// What a spend will do, as it stands in the ledger: calls of contracts, one after the other, or one payment that a seller takes.
import type { Address, Hex } from "viem";

export interface Call {
  to: Address;
  data: Hex;
}

/** An authorization (EIP-3009); both absent until it is signed. */
export interface PaymentAuthorization {
  nonce?: Hex;
  /** Seconds since 1970: from then on nobody can use it. */
  validBefore?: number;
  /** The newest block when it was signed: it is in none before. */
  since?: number;
}

export type SpendPlan =
  | {
      calls: Call[];
      /** Seconds since 1970: from then on the calls fail, whatever else is true. */
      validUntil?: number;
    }
  | { payment: PaymentAuthorization };

export const serializePlan = (plan: SpendPlan) => JSON.stringify(plan);
/** A plan as the ledger has it. */
export const parsePlan = (text: string) => JSON.parse(text) as SpendPlan;
