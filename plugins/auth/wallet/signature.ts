// Whose signature it is: an ordinary key's is recognised here, a contract's only by the chain it lives on.
import type { Address, Hex } from "viem";
import type { Chain } from "../../../src/kernel/chains/chains.ts";

/** Characters: a smart wallet's may bring the code of the wallet along. */
const MAX_LENGTH = 2 + 2 * 32_768;

/**
 * Whether this address signed this text (EIP-191): with an ordinary key, as a deployed contract (ERC-1271), or as one yet
 * to be deployed (ERC-6492). The chain is asked only when it is no ordinary key's; see `Chain.ask` for what that throws.
 */
export async function isSignedBy(chain: Chain, address: Address, message: string, signature: string): Promise<boolean> {
  if (!isHexBytes(signature)) return false;
  if (await isSignedByKey(address, message, signature)) return true;
  if (signature.endsWith(ERC8010_SUFFIX)) return false;
  return chain.withClient((client) => client.verifyMessage({ address, message, signature }));
}

/** The end of an ERC-8010 signature: a call chosen by whoever brings it is made as part of the proof. Not for a sign-in. */
const ERC8010_SUFFIX = "8010".repeat(16);

const isHexBytes = (text: string): text is Hex => text.length <= MAX_LENGTH && /^0x(?:[0-9a-f]{2})+$/i.test(text);

/** r, s and v of an ordinary key. */
const KEY_SIGNATURE_LENGTH = 2 + 2 * 65;

async function isSignedByKey(address: Address, message: string, signature: Hex): Promise<boolean> {
  if (signature.length !== KEY_SIGNATURE_LENGTH) return false;
  const { isAddressEqual, recoverMessageAddress } = await import("viem");
  try {
    return isAddressEqual(address, await recoverMessageAddress({ message, signature }));
  } catch {
    // Numbers that are on no curve: a contract may still know what to make of them.
    return false;
  }
}
