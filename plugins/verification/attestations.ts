// Attestations on the chain: found, and held against what the operator lets count.
import type { Address, Hex } from "viem";
import type { Chain } from "../../src/chains.ts";
import type { Config } from "../../src/config.ts";
import { ATTESTATION_INDEX, ATTESTATION_SERVICE, askContracts, strange } from "./contracts.ts";
import { refused } from "./refused.ts";

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
export interface Rules {
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
  ofExchange(wallet: Address): Promise<Attestation>;
}

const NOTHING: Hex = `0x${"0".repeat(64)}`;

export function createAttestations(chain: Chain, settings: Config["verification"]): Attestations {
  const [service, index] = [hex(settings.eas), hex(settings.exchangeIndexer)];
  const { attesters } = settings;

  async function get(uid: Hex, rules: Rules): Promise<Attestation> {
    const call = { address: service, abi: ATTESTATION_SERVICE, functionName: "getAttestation", args: [uid] } as const;
    const found = await askContracts(chain, (client) => client.readContract(call));
    if (found.uid === NOTHING) throw refused("There is no attestation with this UID on the chain.");
    if (found.uid !== uid) throw strange(new Error(`${found.uid} came instead of ${uid}`));
    const fault = faultOf(found, rules, Date.now());
    if (fault) throw refused(fault);
    return found;
  }

  return {
    find: (uid) => get(hex(uid), { schemas: settings.schemas, attesters }),

    async ofExchange(wallet) {
      const schema = hex(settings.exchangeSchema);
      const args = [wallet, schema] as const;
      const call = { address: index, abi: ATTESTATION_INDEX, functionName: "getAttestationUid", args } as const;
      const uid = await askContracts(chain, (client) => client.readContract(call));
      if (uid === NOTHING) throw refused(`The exchange has no attestation of ${wallet}.`);
      const found = await get(uid, { schemas: [schema], attesters });
      if (same(found.recipient, wallet)) return found;
      throw refused(`The exchange's attestation is of another wallet than ${wallet}.`);
    },
  };
}

/** The first thing wrong with an attestation, as a sentence; undefined for a good one. `now` in epoch ms. */
export function faultOf(found: Attestation, { schemas, attesters }: Rules, now: number): string | undefined {
  if (!schemas.some((schema) => same(schema, found.schema)))
    return `Attestations of the schema ${found.schema} don't count here.`;
  if (!attesters.some((attester) => same(attester, found.attester)))
    return `Attestations made by ${found.attester} don't count here.`;
  if (found.revocationTime !== 0n) return "This attestation was revoked.";
  if (found.expirationTime !== 0n && found.expirationTime * 1000n <= now) return "This attestation has expired.";
  return undefined;
}

/** What the record of an agent tells of its attestation. */
export const toldOf = ({ schema, attester, time, expirationTime }: Attestation) => ({
  schema,
  attester,
  attestedAt: timeOf(time),
  expiresAt: expirationTime === 0n ? null : timeOf(expirationTime),
});

/** ISO 8601; null where it is beyond what a date can be. */
function timeOf(seconds: bigint): string | null {
  const date = new Date(Number(seconds) * 1000);
  return Number.isNaN(date.getTime()) ? null : date.toISOString();
}

/** Whether two addresses or hashes are the same one, however their letters are written. */
export const same = (one: string, other: string) => one.toLowerCase() === other.toLowerCase();

/** What was found to be 0x and hex digits already, in the form that no checksum can fail. */
export const hex = (text: string): Hex => `0x${text.slice(2).toLowerCase()}`;
