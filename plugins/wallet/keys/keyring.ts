// Creates or imports private keys, and seals them with the vault for their wallet. They are opened only to sign.
import type { Address, Hex, LocalAccount } from "viem";
import { invalidInput } from "../../../src/kernel/errors.ts";
import type { KeyRotation } from "../../../src/kernel/security/key-rotation.ts";
import type { Vault } from "../../../src/kernel/security/vault.ts";

/** A private key as it is stored. */
export interface SealedKey {
  address: Address;
  /** Id of the root key that it is sealed under. */
  keyId: string;
  sealed: string;
}

export interface Keyring {
  /**
   * Seals a new or the given key for the wallet of this id. Throws 400 `INVALID_PRIVATE_KEY` for a number outside the
   * curve.
   */
  createKey(walletId: string, privateKey?: string): Promise<SealedKey>;
  /**
   * An account that signs with the wallet's key; don't keep it. Throws if the stored key is of another wallet or
   * address.
   */
  openAccount(wallet: { id: string; address: string; sealed: string }): Promise<LocalAccount>;
}

/** The vault context: a key opens only for the wallet that it was sealed for. */
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
        // The cause is left out, because it contains the key.
        const message = "This is not a private key. Give 0x and 64 hex digits of a number on the curve secp256k1.";
        throw invalidInput({ path: "privateKey", message }, "INVALID_PRIVATE_KEY");
      }
      return { address, keyId: vault.keyId, sealed: vault.seal(key, contextOf(walletId)) };
    },

    async openAccount({ id, address, sealed }) {
      const { privateKeyToAccount } = await import("viem/accounts");
      const account = privateKeyToAccount(vault.open(sealed, contextOf(id)) as Hex);
      if (account.address !== address) throw new Error(`The key of wallet ${id} does not match its address.`);
      return account;
    },
  };
}
