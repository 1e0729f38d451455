// Wallets that sign challenges: whose signature it is, when it is not said, and whether it is that of who is named.
import type { Address, Hex } from "viem";
import type { Chain } from "../../src/chains.ts";
import { invalid } from "../../src/errors.ts";
import { isSignedBy } from "../auth/index.ts";
import { hex } from "./attestations.ts";
import { refused } from "./refused.ts";

/** 65 bytes: r, s and v of an ordinary key. */
const KEY_SIGNATURE = /^0x[0-9a-f]{130}$/i;

/**
 * The wallet that signed this text: the one named, which may be a smart wallet (asked for on the chain), else that of the
 * key. With its checksum. Throws 400 `VERIFICATION_FAILED` when it did not sign, 500 `CHAIN_UNAVAILABLE`.
 */
export async function requireSigner(
  chain: Chain,
  { message, signature, wallet }: { message: string; signature: string; wallet: string | undefined },
): Promise<Address> {
  if (wallet === undefined) return signerOf(message, signature);
  const { getAddress } = await import("viem");
  const address = getAddress(hex(wallet));
  if (await isSignedBy(chain, address, message, signature)) return address;
  throw refused(`${address} did not sign the newest challenge of this agent and type.`);
}

async function signerOf(message: string, signature: string): Promise<Address> {
  if (!isOfKey(signature)) {
    throw invalid({ path: "walletAddress", message: "Name the wallet: this is no signature of an ordinary key." });
  }
  const { recoverMessageAddress } = await import("viem");
  try {
    return await recoverMessageAddress({ message, signature });
  } catch {
    throw refused("No key can have made this signature.");
  }
}

const isOfKey = (signature: string): signature is Hex => KEY_SIGNATURE.test(signature);
