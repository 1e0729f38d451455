// Contracts read by verification: what they are asked, and what becomes of an answer that can't be one.
import type { PublicClient } from "viem";
import type { Chain } from "../../src/kernel/chains/chains.ts";
import { AppError } from "../../src/kernel/errors.ts";

const bytes32 = <Name extends string>(name: Name) => ({ name, type: "bytes32" }) as const;
const address = <Name extends string>(name: Name) => ({ name, type: "address" }) as const;
const uint64 = <Name extends string>(name: Name) => ({ name, type: "uint64" }) as const;
const view = { type: "function", stateMutability: "view" } as const;

/** Ethereum Attestation Service, `IEAS.sol` and `Common.sol`. An unknown UID gives an attestation of zeros. */
export const EAS_ABI = [
  {
    ...view,
    name: "getAttestation",
    inputs: [bytes32("uid")],
    outputs: [
      {
        name: "",
        type: "tuple",
        components: [
          bytes32("uid"),
          bytes32("schema"),
          uint64("time"),
          uint64("expirationTime"),
          uint64("revocationTime"),
          bytes32("refUID"),
          address("recipient"),
          address("attester"),
          { name: "revocable", type: "bool" },
          { name: "data", type: "bytes" },
        ],
      },
    ],
  },
] as const;

/** The exchange's index of its attestations, `AttestationIndexer.sol`. Zeros where there is none. */
export const ATTESTATION_INDEXER_ABI = [
  {
    ...view,
    name: "getAttestationUid",
    inputs: [address("recipient"), bytes32("schemaUid")],
    outputs: [bytes32("")],
  },
] as const;

/** ENS resolvers (ERC-137, ERC-181). Empty text and address zero where there is nothing. */
export const ENS_RESOLVER_ABI = [
  { ...view, name: "name", inputs: [bytes32("node")], outputs: [{ name: "", type: "string" }] },
  { ...view, name: "addr", inputs: [bytes32("node")], outputs: [address("")] },
] as const;

/**
 * Asks contracts that answer every question: one that reverts, or says what can't be read, is another contract than we
 * take it for, or was not what answered. So that too is 500 `CHAIN_UNAVAILABLE`, and never a claim that fails or holds.
 */
export async function readChain<T>(chain: Chain, read: (client: PublicClient) => Promise<T>): Promise<T> {
  try {
    return await chain.withClient(read);
  } catch (error) {
    throw error instanceof AppError ? error : unusableResponse(error);
  }
}

/** What came is no answer to the question. The cause is for the log, without the RPC's address, which may hold a key. */
export function unusableResponse(error: unknown): AppError {
  const short = error instanceof Error && "shortMessage" in error ? error.shortMessage : error;
  const cause = new Error(`A contract gave no usable answer: ${short}`);
  return new AppError(500, "CHAIN_UNAVAILABLE", "The chain's answer can't be used. Try again later.", {}, { cause });
}
