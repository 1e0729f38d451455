// Verifies signatures of Ethereum addresses: those of a key locally, those of a smart contract by a call to the chain.
import type { Address, Hex } from "viem";
import type { Chain } from "../../chains/index.ts";

/** In characters. Generous, since the signature of a smart wallet may contain the code of the wallet (ERC-6492). */
const MAX_LENGTH = 2 + 2 * 32_768;

/**
 * Whether this address signed this text (EIP-191): with a key, as a deployed contract (ERC-1271), or as one not
 * deployed yet (ERC-6492). The chain is called only if it is not the signature of a key; see `Chain.withClient` for its
 * errors.
 */
export async function isSignedBy(chain: Chain, address: Address, message: string, signature: string): Promise<boolean> {
  // Nobody has its key, but `ecrecover`, which the chain's check calls, returns it for bytes that no key signed.
  if (/^0x0{40}$/i.test(address) || !isHexBytes(signature)) return false;
  if (await isSignedByKey(address, message, signature)) return true;
  if (signature.endsWith(ERC8010_SUFFIX)) return false;
  return chain.withClient((client) => client.verifyMessage({ address, message, signature }));
}

/** The suffix of ERC-8010 signatures. Refused: verifying one makes a call that the sender chooses. */
const ERC8010_SUFFIX = "8010".repeat(16);

const isHexBytes = (text: string): text is Hex => text.length <= MAX_LENGTH && /^0x(?:[0-9a-f]{2})+$/i.test(text);

/** The length of r, s and v (65 bytes) in hex. */
const KEY_SIGNATURE_LENGTH = 2 + 2 * 65;

async function isSignedByKey(address: Address, message: string, signature: Hex): Promise<boolean> {
  if (signature.length !== KEY_SIGNATURE_LENGTH) return false;
  const { isAddressEqual, recoverMessageAddress } = await import("viem");
  try {
    return isAddressEqual(address, await recoverMessageAddress({ message, signature }));
  } catch {
    // Not a valid curve point: the bytes may still be the signature of a contract.
    return false;
  }
}
