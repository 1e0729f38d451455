// Deploys the contracts that verification reads to a test chain: attestations, the exchange's index of them, and names.

import { type Address, encodePacked, type Hex, keccak256, namehash } from "viem";
import { generatePrivateKey } from "viem/accounts";
import type { Anvil } from "./anvil.ts";
import { compileContract } from "./solidity.ts";

export const SCHEMA: Hex = `0x${"5c".repeat(32)}`;
export const EXCHANGE_SCHEMA: Hex = `0x${"e5".repeat(32)}`;
export const ATTESTER: Address = `0x${"a7".repeat(20)}`;

export interface AttestationFields {
  schema?: Hex;
  attester?: Address;
  /** Seconds. */
  expirationTime?: bigint;
  revocationTime?: bigint;
}

export interface Attesters {
  /** Berth's settings for these contracts. */
  readonly env: Record<string, string>;
  /** Writes an attestation about this wallet, valid unless `fields` change it; returns its UID. */
  attest(recipient: Address, fields?: AttestationFields): Promise<Hex>;
  /** Sets the entry of this wallet in the exchange's index. */
  index(recipient: Address, uid: Hex): Promise<void>;
  /** Writes an attestation of the exchange and its entry in the index. */
  attestAccount(recipient: Address, fields?: AttestationFields): Promise<Hex>;
  /** Sets the reverse record: the name of this wallet. */
  setName(wallet: Address, name: string): Promise<void>;
  /** Sets the forward record: the address of a name. */
  setAddress(name: string, to: Address): Promise<void>;
}

/** Deploys the three contracts. */
export async function deployAttesters(chain: Anvil): Promise<Attesters> {
  const [service, indexer, resolver] = await Promise.all([
    compileContract("Attestations.sol", "AttestationService"),
    compileContract("Attestations.sol", "AttestationIndexer"),
    compileContract("Names.sol", "NameResolver"),
  ]);
  // One after the other, since the transactions of one account need consecutive nonces.
  const eas = await chain.deploy(service);
  const index = await chain.deploy(indexer);
  const names = await chain.deploy(resolver);

  let last: Promise<unknown> = Promise.resolve();
  const write = (to: { address: Address; abi: typeof service.abi }, functionName: string, args: unknown[]) => {
    const sent = last.then(async () => {
      const hash = await chain.client.writeContract({ ...to, functionName, args });
      await chain.client.waitForTransactionReceipt({ hash });
    });
    last = sent.catch(() => undefined);
    return sent;
  };

  const attesters: Attesters = {
    env: {
      MAINNET_RPC_URL: chain.url,
      VERIFY_EAS_ADDRESS: eas,
      VERIFY_ATTESTATION_SCHEMAS: SCHEMA,
      VERIFY_ATTESTERS: ATTESTER,
      VERIFY_EXCHANGE_INDEXER: index,
      VERIFY_EXCHANGE_SCHEMA: EXCHANGE_SCHEMA,
      VERIFY_NAME_REGISTRY: names,
    },
    async attest(recipient, { schema = SCHEMA, attester = ATTESTER, expirationTime = 0n, revocationTime = 0n } = {}) {
      const uid = generatePrivateKey();
      const time = BigInt(Math.floor(Date.now() / 1000));
      const refUID: Hex = `0x${"0".repeat(64)}`;
      const rest = { refUID, recipient, attester, revocable: true, data: "0x01" };
      const attestation = { uid, schema, time, expirationTime, revocationTime, ...rest };
      await write({ address: eas, abi: service.abi }, "put", [attestation]);
      return uid;
    },
    index: (recipient, uid) => write({ address: index, abi: indexer.abi }, "put", [recipient, EXCHANGE_SCHEMA, uid]),
    async attestAccount(recipient, fields) {
      const uid = await attesters.attest(recipient, { schema: EXCHANGE_SCHEMA, ...fields });
      await attesters.index(recipient, uid);
      return uid;
    },
    setName: (wallet, name) => write({ address: names, abi: resolver.abi }, "setName", [reverseNode(wallet), name]),
    setAddress: (name, to) => write({ address: names, abi: resolver.abi }, "setAddr", [namehash(name), to]),
  };
  return attesters;
}

/** The hash of `80002105.reverse`, from the source of the name service of Base. */
const BASE_REVERSE_NODE: Hex = "0x08d9b0993eb8c4da57c37a4b84a6e384c2623114ff4e9370ed51c9b8935109ba";

function reverseNode(wallet: Address): Hex {
  const label = keccak256(new TextEncoder().encode(wallet.slice(2).toLowerCase()));
  return keccak256(encodePacked(["bytes32", "bytes32"], [BASE_REVERSE_NODE, label]));
}
