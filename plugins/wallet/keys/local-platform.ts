// A driver of the managed wallet platform that keeps the keys in the local keyring.
import type { Keyring } from "./keyring.ts";
import type { WalletPlatform } from "./wallet-platform.ts";

/** Keys are sealed like those of users' own wallets. `signer` throws for a wallet whose key another platform keeps. */
export const createLocalPlatform = (keys: Keyring): WalletPlatform => ({
  create: ({ id }) => keys.createKey(id),
  async signer({ id, address, sealed }) {
    if (sealed === null) throw new Error(`The key of wallet ${id} is not here: another platform keeps it.`);
    return keys.openAccount({ id, address, sealed });
  },
});
