// Private keys: made or taken in, sealed for their wallet, opened only to sign.
import type { Address, Hex, LocalAccount } from "viem";
import { invalidInput } from "../../../src/kernel/errors.ts";
import type { KeyRotation } from "../../../src/kernel/security/key-rotation.ts";
import type { Vault } from "../../../src/kernel/security/vault.ts";

/** A private key as it is stored. */
export interface SealedKey {
  address: Address;
  /** Which root key it is sealed under. */
  keyId: string;
  sealed: string;
}

export interface Keyring {
  /** A new key for the wallet of this id, or the given one. 400 `INVALID_PRIVATE_KEY` for one that is on no curve. */
  createKey(walletId: string, privateKey?: string): Promise<SealedKey>;
  /** Signs with the wallet's key: don't keep it. Throws where the stored key is not this wallet's, or not this address's. */
  openAccount(wallet: { id: string; address: string; sealed: string }): Promise<LocalAccount>;
}

const contextOf = (walletId: string) => `wallet:${walletId}`;

export function createKeyring({
  vault,
  keyRotation,
}: {
  vault: Vault;
  keyRotation: Pick<KeyRotation, "registerColumn">;
}): Keyring {
  keyRotation.registerColumn({
    label: "wallets",
    table: "wallets",
    keyColumns: ["id"],
    sealed: "sealed",
    keyId: "key_id",
    sealContext: ({ id }) => contextOf(String(id)),
  });

  return {
    async createKey(walletId, privateKey) {
      const { generatePrivateKey, privateKeyToAccount } = await import("viem/accounts");
      const key = (privateKey?.toLowerCase() ?? generatePrivateKey()) as Hex;
      let address: Address;
      try {
        ({ address } = privateKeyToAccount(key));
      } catch {
        // Without the cause, which tells the key.
        const message = "This is no private key: 0x and 64 hex digits of a number on the curve secp256k1.";
        throw invalidInput({ path: "privateKey", message }, "INVALID_PRIVATE_KEY");
      }
      return { address, keyId: vault.keyId, sealed: vault.seal(key, contextOf(walletId)) };
    },

    async openAccount({ id, address, sealed }) {
      const { privateKeyToAccount } = await import("viem/accounts");
      const account = privateKeyToAccount(vault.open(sealed, contextOf(id)) as Hex);
      if (account.address !== address) throw new Error(`The key of wallet ${id} is not that of its address.`);
      return account;
    },
  };
}
