// Defines the port for managed wallet platforms; local-platform.ts and cdp-platform.ts are its drivers.
import type { Address, Hex, TransactionSerializableEIP1559, TypedDataDomain, TypedDataParameter } from "viem";

/** Signs for one wallet, wherever its key is stored. */
export interface Signer {
  readonly address: Address;
  /** The signed transaction (EIP-1559), ready to be sent. */
  signTransaction(transaction: TransactionSerializableEIP1559): Promise<Hex>;
  /** The signature of typed data (EIP-712). */
  signTypedData(data: TypedData): Promise<Hex>;
}

/** Typed data to sign (EIP-712). */
export interface TypedData {
  domain: TypedDataDomain;
  types: Record<string, readonly TypedDataParameter[]>;
  primaryType: string;
  message: Record<string, unknown>;
}

/** A wallet that the platform made; `keyId` and `sealed` are null if the platform keeps the key itself. */
export interface PlatformWallet {
  address: Address;
  keyId: string | null;
  sealed: string | null;
}

export interface WalletPlatform {
  /** Makes the wallet of this user and email. A repeated call, after a crash, may return the same wallet. */
  create(wallet: { id: string; userId: string; email: string }): Promise<PlatformWallet>;
  /** The signer of one of the platform's wallets. */
  signer(wallet: { id: string; address: string; sealed: string | null }): Promise<Signer>;
}
