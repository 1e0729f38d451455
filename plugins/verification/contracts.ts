// The ABIs of the contracts that verification reads: attestations, the exchange's indexer, and name resolvers.

const bytes32 = <Name extends string>(name: Name) => ({ name, type: "bytes32" }) as const;
const address = <Name extends string>(name: Name) => ({ name, type: "address" }) as const;
const uint64 = <Name extends string>(name: Name) => ({ name, type: "uint64" }) as const;
const view = { type: "function", stateMutability: "view" } as const;

/** Ethereum Attestation Service, `IEAS.sol` and `Common.sol`. For an unknown UID every field is zero. */
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

/** The exchange's index of its attestations, `AttestationIndexer.sol`. Returns a zero UID if there is none. */
export const ATTESTATION_INDEXER_ABI = [
  {
    ...view,
    name: "getAttestationUid",
    inputs: [address("recipient"), bytes32("schemaUid")],
    outputs: [bytes32("")],
  },
] as const;

/** ENS resolvers (ERC-137, ERC-181). They return empty text, or the zero address, if there is no record. */
export const ENS_RESOLVER_ABI = [
  { ...view, name: "name", inputs: [bytes32("node")], outputs: [{ name: "", type: "string" }] },
  { ...view, name: "addr", inputs: [bytes32("node")], outputs: [address("")] },
] as const;
