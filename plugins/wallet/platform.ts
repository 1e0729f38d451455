// The managed wallet platform: the port, and which driver is behind it by the configuration.
import type { Address, Hex, TransactionSerializableEIP1559, TypedDataDomain, TypedDataParameter } from "viem";
import type { Config } from "../../src/config.ts";
import { createCdpPlatform } from "./cdp.ts";
import type { Keyring } from "./keys.ts";

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

/** The platform, or what is to be set so that there is one. */
export type Configured = { platform: WalletPlatform; kind: "local" | "cdp" } | { platform: undefined; setup: string };

/** Keys are kept here, sealed like those of users. */
export const createLocalPlatform = (keys: Keyring): WalletPlatform => ({
  create: ({ id }) => keys.make(id),
  async signer({ id, address, sealed }) {
    if (sealed === null) throw new Error(`The key of wallet ${id} is not here: another platform made it.`);
    return keys.account({ id, address, sealed });
  },
});

export function choosePlatform({ walletPlatform: { kind, cdp } }: Config, keys: Keyring): Configured {
  if (kind === "none") {
    const setup =
      "Set WALLET_PLATFORM=local to keep keys here, or WALLET_PLATFORM=cdp with CDP_API_KEY_ID, CDP_API_KEY_SECRET and CDP_WALLET_SECRET, and restart.";
    return { platform: undefined, setup };
  }
  if (kind === "local") return { platform: createLocalPlatform(keys), kind };
  const { apiKeyId, apiKeySecret, walletSecret, basePath } = cdp;
  if (apiKeyId === undefined || apiKeySecret === undefined || walletSecret === undefined) {
    const setup =
      "WALLET_PLATFORM=cdp also needs CDP_API_KEY_ID, CDP_API_KEY_SECRET and CDP_WALLET_SECRET. Set them and restart.";
    return { platform: undefined, setup };
  }
  return { platform: createCdpPlatform({ apiKeyId, apiKeySecret, walletSecret, basePath }), kind };
}
