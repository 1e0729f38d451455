// The name service: the name that a wallet goes by, which counts only if it leads back to that wallet.
import type { Address } from "viem";
import type { Chain } from "../../src/kernel/chains/chains.ts";
import type { Config } from "../../src/kernel/config/config.ts";
import { isSameHex, normalizeHex } from "./attestations.ts";
import { ENS_RESOLVER_ABI, readChain } from "./contracts.ts";
import { verificationFailed } from "./verification-failed.ts";

export interface NameService {
  /** The name of a wallet, resolved back and forth. Throws 400 `VERIFICATION_FAILED`, 500 `CHAIN_UNAVAILABLE`. */
  requirePrimaryName(wallet: Address): Promise<string>;
}

/** Where Base keeps reverse records: 0x80000000 and the chain's id 8453, in hex (ENSIP-11, ENSIP-19). */
const REVERSE_SUFFIX = "80002105.reverse";
/** Of a DNS name (RFC 1035 §2.3.4). Whoever owns a name may write anything there. */
const MAX_LENGTH = 255;

export function createNameService(chain: Chain, { nameRegistry }: Config["verification"]): NameService {
  const resolver = { address: normalizeHex(nameRegistry), abi: ENS_RESOLVER_ABI } as const;
  return {
    async requirePrimaryName(wallet) {
      const [{ namehash }, { normalize }] = await Promise.all([import("viem"), import("viem/ens")]);
      const node = namehash(`${wallet.slice(2).toLowerCase()}.${REVERSE_SUFFIX}`);
      return readChain(chain, async (client) => {
        const name = await client.readContract({ ...resolver, functionName: "name", args: [node] });
        if (name === "") throw verificationFailed(`${wallet} goes by no name. Set its primary name first.`);
        if (!isNormalized(name, normalize))
          throw verificationFailed("The name of this wallet is not in the form of names (ENSIP-15).");
        const forwardAddress = await client.readContract({ ...resolver, functionName: "addr", args: [namehash(name)] });
        if (!isSameHex(forwardAddress, wallet))
          throw verificationFailed(`The name ${name} does not lead back to ${wallet}.`);
        return name;
      });
    },
  };
}

/** Whether it is written in the only way that leads to its record, and can't pass for another's by how it looks. */
function isNormalized(name: string, normalize: (name: string) => string): boolean {
  if (name.length > MAX_LENGTH) return false;
  try {
    return normalize(name) === name;
  } catch {
    return false;
  }
}
