// The managed wallet platform: the port, and the driver that keeps keys here.
import type { Address, Hex, TransactionSerializableEIP1559, TypedDataDomain, TypedDataParameter } from "viem";

/** What signs for a wallet, wherever its key is. */
export interface Signer {
  readonly address: Address;
  /** The signed transaction (EIP-1559), ready to be sent. */
  signTransaction(transaction: TransactionSerializableEIP1559): Promise<Hex>;
  /** The signature of typed data (EIP-712). */
  signTypedData(data: TypedData): Promise<Hex>;
}

export interface TypedData {
  domain: TypedDataDomain;
  types: Record<string, readonly TypedDataParameter[]>;
  primaryType: string;
  message: Record<string, unknown>;
}

/** A wallet as the platform made it; without a key where the platform keeps that. */
export interface PlatformWallet {
  address: Address;
  keyId: string | null;
  sealed: string | null;
}

export interface WalletPlatform {
  /** Makes the wallet of this user and email. Asked again after a crash it may be given the same, but is never lost. */
  create(wallet: { id: string; userId: string; email: string }): Promise<PlatformWallet>;
  /** Signs for one of its wallets. */
  signer(wallet: { id: string; address: string; sealed: string | null }): Promise<Signer>;
}
