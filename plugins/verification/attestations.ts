// Attestations on the chain: found, and held against what the operator lets count.
import type { Address, Hex } from "viem";
import type { Chain } from "../../src/kernel/chains/chains.ts";
import type { Config } from "../../src/kernel/config/config.ts";
import { ATTESTATION_INDEXER_ABI, EAS_ABI, readChain, unusableResponse } from "./contracts.ts";
import { verificationFailed } from "./verification-failed.ts";

/** As EAS has it; times in seconds, 0 for never. */
export interface Attestation {
  uid: Hex;
  schema: Hex;
  time: bigint;
  expirationTime: bigint;
  revocationTime: bigint;
  recipient: Address;
  attester: Address;
}

/** What must be true of one. */
export interface AttestationRules {
  schemas: readonly string[];
  attesters: readonly string[];
}

export interface Attestations {
  /**
   * The attestation with this UID, good by the operator's rules. Throws 400 `VERIFICATION_FAILED` with what is wrong
   * with it, 500 `CHAIN_UNAVAILABLE`. Whose it is, is the caller's question.
   */
  find(uid: string): Promise<Attestation>;
  /** The exchange's attestation of this wallet, likewise. */
  findExchangeAttestation(wallet: Address): Promise<Attestation>;
}

const ZERO_UID: Hex = `0x${"0".repeat(64)}`;

export function createAttestations(chain: Chain, settings: Config["verification"]): Attestations {
  const [easAddress, indexerAddress] = [normalizeHex(settings.eas), normalizeHex(settings.exchangeIndexer)];
  const { attesters } = settings;

  async function get(uid: Hex, rules: AttestationRules): Promise<Attestation> {
    const call = { address: easAddress, abi: EAS_ABI, functionName: "getAttestation", args: [uid] } as const;
    const found = await readChain(chain, (client) => client.readContract(call));
    if (found.uid === ZERO_UID) throw verificationFailed("There is no attestation with this UID on the chain.");
    if (found.uid !== uid) throw unusableResponse(new Error(`${found.uid} came instead of ${uid}`));
    const reason = invalidReason(found, rules, Date.now());
    if (reason) throw verificationFailed(reason);
    return found;
  }

  return {
    find: (uid) => get(normalizeHex(uid), { schemas: settings.schemas, attesters }),

    async findExchangeAttestation(wallet) {
      const schema = normalizeHex(settings.exchangeSchema);
      const args = [wallet, schema] as const;
      const call = {
        address: indexerAddress,
        abi: ATTESTATION_INDEXER_ABI,
        functionName: "getAttestationUid",
        args,
      } as const;
      const uid = await readChain(chain, (client) => client.readContract(call));
      if (uid === ZERO_UID) throw verificationFailed(`The exchange has no attestation of ${wallet}.`);
      const found = await get(uid, { schemas: [schema], attesters });
      if (isSameHex(found.recipient, wallet)) return found;
      throw verificationFailed(`The exchange's attestation is of another wallet than ${wallet}.`);
    },
  };
}

/** The first thing wrong with an attestation, as a sentence; undefined for a good one. `now` in epoch ms. */
export function invalidReason(
  found: Attestation,
  { schemas, attesters }: AttestationRules,
  now: number,
): string | undefined {
  if (!schemas.some((schema) => isSameHex(schema, found.schema)))
    return `Attestations of the schema ${found.schema} don't count here.`;
  if (!attesters.some((attester) => isSameHex(attester, found.attester)))
    return `Attestations made by ${found.attester} don't count here.`;
  if (found.revocationTime !== 0n) return "This attestation was revoked.";
  if (found.expirationTime !== 0n && found.expirationTime * 1000n <= now) return "This attestation has expired.";
  return undefined;
}

/** What the record of an agent tells of its attestation. */
export const toMetadata = ({ schema, attester, time, expirationTime }: Attestation) => ({
  schema,
  attester,
  attestedAt: toIsoDate(time),
  expiresAt: expirationTime === 0n ? null : toIsoDate(expirationTime),
});

/** ISO 8601; null where it is beyond what a date can be. */
function toIsoDate(seconds: bigint): string | null {
  const date = new Date(Number(seconds) * 1000);
  return Number.isNaN(date.getTime()) ? null : date.toISOString();
}

/** Whether two addresses or hashes are the same one, however their letters are written. */
export const isSameHex = (one: string, other: string) => one.toLowerCase() === other.toLowerCase();

/** What was found to be 0x and hex digits already, in the form that no checksum can fail. */
export const normalizeHex = (text: string): Hex => `0x${text.slice(2).toLowerCase()}`;
