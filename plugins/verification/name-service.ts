// Resolves the primary name of a wallet, and accepts it only if the name resolves back to that wallet.

import type { Address } from "viem";
import type { SettingsOf } from "../../src/kernel/config/config.ts";
import type { Chain } from "../chains/index.ts";
import { readChain } from "../chains/index.ts";
import { isSameHex, normalizeHex } from "./attestations.ts";
import { ENS_RESOLVER_ABI } from "./contracts.ts";
import type { verificationSettings } from "./settings.ts";
import { verificationFailed } from "./verification-failed.ts";

export interface NameService {
  /**
   * The primary name of a wallet, if it also resolves to that wallet. Throws 400 `VERIFICATION_FAILED`, 500
   * `CHAIN_UNAVAILABLE`.
   */
  requirePrimaryName(wallet: Address): Promise<string>;
}

/** Suffix of Base's reverse records: coin type 0x80000000 | 8453 (the chain id) in hex (ENSIP-11, ENSIP-19). */
const REVERSE_SUFFIX = "80002105.reverse";
/** The limit of a DNS name (RFC 1035 §2.3.4). A reverse record can hold any text. */
const MAX_LENGTH = 255;

export function createNameService(
  chain: Chain,
  { nameRegistry }: SettingsOf<typeof verificationSettings>,
): NameService {
  const resolver = { address: normalizeHex(nameRegistry), abi: ENS_RESOLVER_ABI } as const;
  return {
    async requirePrimaryName(wallet) {
      const [{ namehash }, { normalize }] = await Promise.all([import("viem"), import("viem/ens")]);
      const node = namehash(`${wallet.slice(2).toLowerCase()}.${REVERSE_SUFFIX}`);
      return readChain(chain, async (client) => {
        const name = await client.readContract({ ...resolver, functionName: "name", args: [node] });
        if (name === "") throw verificationFailed(`${wallet} has no primary name. Set one first, then verify again.`);
        if (!isNormalized(name, normalize))
          throw verificationFailed("The name of this wallet is not in normalized form (ENSIP-15).");
        const forwardAddress = await client.readContract({ ...resolver, functionName: "addr", args: [namehash(name)] });
        if (!isSameHex(forwardAddress, wallet))
          throw verificationFailed(`The name ${name} does not resolve to ${wallet}.`);
        return name;
      });
    },
  };
}

/** Whether the name equals its normalized form (ENSIP-15), which excludes look-alike spellings of other names. */
function isNormalized(name: string, normalize: (name: string) => string): boolean {
  if (name.length > MAX_LENGTH) return false;
  try {
    return normalize(name) === name;
  } catch {
    return false;
  }
}
