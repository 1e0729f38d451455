// A driver of the managed wallet platform that keeps the keys in the local keyring.
import type { Keyring } from "./keyring.ts";
import type { WalletPlatform } from "./wallet-platform.ts";

/** Keys are kept here, sealed like those of users. */
export const createLocalPlatform = (keys: Keyring): WalletPlatform => ({
  create: ({ id }) => keys.createKey(id),
  async signer({ id, address, sealed }) {
    if (sealed === null) throw new Error(`The key of wallet ${id} is not here: another platform made it.`);
    return keys.openAccount({ id, address, sealed });
  },
});
