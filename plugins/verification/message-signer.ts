// Finds the wallet that signed a challenge: checks the signature against a given address, or recovers the address from
// it.
import type { Address, Hex } from "viem";
import { invalidInput } from "../../src/kernel/errors.ts";
import { isSignedBy } from "../auth/index.ts";
import type { Chain } from "../chains/index.ts";
import { normalizeHex } from "./attestations.ts";
import { verificationFailed } from "./verification-failed.ts";

/** 65 bytes: r, s and v of a signature by a private key (not by a smart wallet). */
const EOA_SIGNATURE = /^0x[0-9a-f]{130}$/i;

/**
 * The address, with its checksum, of the wallet that signed this message. A given `wallet` may be a smart wallet, whose
 * signature the chain checks; without one, the address is recovered from the signature. Throws 400 for a signature that
 * needs `wallet`, 400 `VERIFICATION_FAILED` if the wallet did not sign, 500 `CHAIN_UNAVAILABLE`.
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
    throw invalidInput({
      path: "walletAddress",
      message: "Give the wallet's address: this is not the signature of an ordinary key.",
    });
  }
  const { recoverMessageAddress } = await import("viem");
  try {
    return await recoverMessageAddress({ message, signature });
  } catch {
    throw verificationFailed("No key could have made this signature.");
  }
}

const isEoaSignature = (signature: string): signature is Hex => EOA_SIGNATURE.test(signature);
