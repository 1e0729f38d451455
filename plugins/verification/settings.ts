// Declares the settings of verification: the contracts, and the schemas and attesters that are accepted.

import { bytes32, contractAddress } from "../../src/kernel/config/parsers.ts";
import { defineSettings } from "../../src/kernel/config/section.ts";
import { listOf, withDefault } from "../../src/kernel/config/variable.ts";

export const verificationSettings = defineSettings({
  name: "verification",
  variables: {
    VERIFY_EAS_ADDRESS: withDefault(
      contractAddress,
      "0x4200000000000000000000000000000000000021",
      "Attestation service.",
    ),
    VERIFY_ATTESTATION_SCHEMAS: listOf(
      bytes32,
      "Schemas of attestations that count.",
      "0xf8b05c79f090979bf4a80270aba232dff11a10d9ca55c4f88de95317970f0de9",
    ),
    VERIFY_ATTESTERS: listOf(contractAddress, "Attesters that count.", "0x357458739F90461b99789350868CD7CF330Dd7EE"),
    VERIFY_EXCHANGE_INDEXER: withDefault(
      contractAddress,
      "0x2c7eE1E5f416dfF40054c27A62f7B357C4E8619C",
      "Index of the exchange's attestations.",
    ),
    VERIFY_EXCHANGE_SCHEMA: withDefault(
      bytes32,
      "0xf8b05c79f090979bf4a80270aba232dff11a10d9ca55c4f88de95317970f0de9",
      'The exchange\'s schema "verified account".',
    ),
    VERIFY_NAME_REGISTRY: withDefault(
      contractAddress,
      "0xC6d566A56A1aFf6508b41f6c90ff131615583BCD",
      "Resolver of the name service.",
    ),
  },
  build: (v) => ({
    eas: v.VERIFY_EAS_ADDRESS,
    schemas: v.VERIFY_ATTESTATION_SCHEMAS,
    attesters: v.VERIFY_ATTESTERS,
    exchangeIndexer: v.VERIFY_EXCHANGE_INDEXER,
    exchangeSchema: v.VERIFY_EXCHANGE_SCHEMA,
    nameRegistry: v.VERIFY_NAME_REGISTRY,
  }),
});
