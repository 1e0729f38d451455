// Wallets that sign challenges: whose signature it is, when it is not said, and whether it is that of who is named.
import type { Address, Hex } from "viem";
import type { Chain } from "../../src/kernel/chains/chains.ts";
import { invalidInput } from "../../src/kernel/errors.ts";
import { isSignedBy } from "../auth/index.ts";
import { normalizeHex } from "./attestations.ts";
import { verificationFailed } from "./verification-failed.ts";

/** 65 bytes: r, s and v of an ordinary key. */
const EOA_SIGNATURE = /^0x[0-9a-f]{130}$/i;

/**
 * The wallet that signed this text: the one named, which may be a smart wallet (asked for on the chain), else that of the
 * key. With its checksum. Throws 400 `VERIFICATION_FAILED` when it did not sign, 500 `CHAIN_UNAVAILABLE`.
 */
export async function requireSigner(
  chain: Chain,
  { message, signature, wallet }: { message: string; signature: string; wallet: string | undefined },
): Promise<Address> {
  if (wallet === undefined) return recoverSigner(message, signature);
  const { getAddress } = await import("viem");
  const address = getAddress(normalizeHex(wallet));
  if (await isSignedBy(chain, address, message, signature)) return address;
  throw verificationFailed(`${address} did not sign the newest challenge of this agent and type.`);
}

async function recoverSigner(message: string, signature: string): Promise<Address> {
  if (!isEoaSignature(signature)) {
    throw invalidInput({ path: "walletAddress", message: "Name the wallet: this is no signature of an ordinary key." });
  }
  const { recoverMessageAddress } = await import("viem");
  try {
    return await recoverMessageAddress({ message, signature });
  } catch {
    throw verificationFailed("No key can have made this signature.");
  }
}

const isEoaSignature = (signature: string): signature is Hex => EOA_SIGNATURE.test(signature);
