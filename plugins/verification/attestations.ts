// Reads attestations (Ethereum Attestation Service) from the chain, and checks them against the operator's rules.

import type { Address, Hex } from "viem";
import type { SettingsOf } from "../../src/kernel/config/config.ts";
import type { Chain } from "../chains/index.ts";
import { readChain, unusableResponse } from "../chains/index.ts";
import { ATTESTATION_INDEXER_ABI, EAS_ABI } from "./contracts.ts";
import type { verificationSettings } from "./settings.ts";
import { verificationFailed } from "./verification-failed.ts";

/** The fields of an EAS attestation that are used. Times are in seconds since 1970, 0 for never. */
export interface Attestation {
  uid: Hex;
  schema: Hex;
  time: bigint;
  expirationTime: bigint;
  revocationTime: bigint;
  recipient: Address;
  attester: Address;
}

/** The schemas and attesters that are accepted, as hex in any case. */
export interface AttestationRules {
  schemas: readonly string[];
  attesters: readonly string[];
}

export interface Attestations {
  /**
   * The attestation with this UID, valid by the operator's rules. Throws 400 `VERIFICATION_FAILED` with the reason, 500
   * `CHAIN_UNAVAILABLE`. The caller checks the recipient.
   */
  find(uid: string): Promise<Attestation>;
  /** The exchange's attestation of this wallet; the same checks and errors. */
  findExchangeAttestation(wallet: Address): Promise<Attestation>;
}

const ZERO_UID: Hex = `0x${"0".repeat(64)}`;

export function createAttestations(chain: Chain, settings: SettingsOf<typeof verificationSettings>): Attestations {
  const [easAddress, indexerAddress] = [normalizeHex(settings.eas), normalizeHex(settings.exchangeIndexer)];
  const { attesters } = settings;

  async function get(uid: Hex, rules: AttestationRules): Promise<Attestation> {
    const call = { address: easAddress, abi: EAS_ABI, functionName: "getAttestation", args: [uid] } as const;
    const found = await readChain(chain, (client) => client.readContract(call));
    if (found.uid === ZERO_UID) throw verificationFailed("There is no attestation with this UID on the chain.");
    if (found.uid !== uid)
      throw unusableResponse(new Error(`The contract returned the attestation ${found.uid} instead of ${uid}`));
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
      throw verificationFailed(`The exchange's attestation is of another wallet, not of ${wallet}.`);
    },
  };
}

/** The first rule that an attestation breaks, as a sentence; undefined for a valid one. `now` is in epoch ms. */
export function invalidReason(
  found: Attestation,
  { schemas, attesters }: AttestationRules,
  now: number,
): string | undefined {
  if (!schemas.some((schema) => isSameHex(schema, found.schema)))
    return `Attestations with the schema ${found.schema} are not accepted here.`;
  if (!attesters.some((attester) => isSameHex(attester, found.attester)))
    return `Attestations made by ${found.attester} are not accepted here.`;
  if (found.revocationTime !== 0n) return "This attestation was revoked.";
  if (found.expirationTime !== 0n && found.expirationTime * 1000n <= now) return "This attestation has expired.";
  return undefined;
}

/** The fields of an attestation that the agent's verification record stores. */
export const toMetadata = ({ schema, attester, time, expirationTime }: Attestation) => ({
  schema,
  attester,
  attestedAt: toIsoDate(time),
  expiresAt: expirationTime === 0n ? null : toIsoDate(expirationTime),
});

/** ISO 8601; null if the time is beyond the range of dates. */
function toIsoDate(seconds: bigint): string | null {
  const date = new Date(Number(seconds) * 1000);
  return Number.isNaN(date.getTime()) ? null : date.toISOString();
}

/** Whether two addresses or hashes are equal, ignoring case. */
export const isSameHex = (one: string, other: string) => one.toLowerCase() === other.toLowerCase();

/** Lower-cases text that was already checked to be 0x and hex digits: in lower case no address checksum is checked. */
export const normalizeHex = (text: string): Hex => `0x${text.slice(2).toLowerCase()}`;
