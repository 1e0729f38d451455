// Nonces that make a signed message valid for one sign-in. A nonce carries its time and a MAC, so only used ones are
// stored.
import type { Statement } from "../../../src/kernel/database/database.ts";
import { AppError } from "../../../src/kernel/errors.ts";
import type { Vault } from "../../../src/kernel/security/vault.ts";
import { MINUTE } from "../../../src/kernel/util/time.ts";
import { useOnceStatements } from "../sign-in/replay-protection.ts";

/** Milliseconds that a nonce is valid: ten minutes. */
export const NONCE_LIFETIME = 10 * MINUTE;

export interface Nonces {
  /** 44 hex digits, alphanumeric as EIP-4361 requires; `expiresAt` is epoch ms. Writes nothing. */
  issue(): { nonce: string; expiresAt: number };
  /**
   * Marks a nonce as used; aborts its batch with GuardFailed if it was used before. Throws 401 `INVALID_NONCE` if it
   * has expired. Clients may choose their own nonce: then its age is that of the message (`issuedAt`, epoch ms).
   */
  useStatements(nonce: string, issuedAt: number): Statement[];
}

/** A 401 for a nonce that was used before or has expired. */
export const invalidNonce = () =>
  new AppError(401, "INVALID_NONCE", "This message was used already or has expired. Sign a new one.");

const PURPOSE = "wallet-nonce";
/** The parts of a nonce, in hex digits: epoch ms, random bits, and a MAC of both. */
const TIME_DIGITS = 12;
const RANDOM_DIGITS = 16;
const MAC_DIGITS = 16;

export function createNonces(vault: Pick<Vault, "sign">): Nonces {
  const withMac = (text: string) => {
    const mac = Buffer.from(vault.sign(PURPOSE, text), "base64url").toString("hex");
    return text + mac.slice(0, MAC_DIGITS);
  };
  /** When Berth issued the nonce (epoch ms); undefined for a nonce that a client chose. */
  function readIssueTime(nonce: string): number | undefined {
    const text = nonce.slice(0, TIME_DIGITS + RANDOM_DIGITS);
    return withMac(text) === nonce ? Number.parseInt(text.slice(0, TIME_DIGITS), 16) : undefined;
  }

  return {
    issue() {
      const now = Date.now();
      const random = Buffer.from(crypto.getRandomValues(new Uint8Array(RANDOM_DIGITS / 2))).toString("hex");
      return { nonce: withMac(now.toString(16).padStart(TIME_DIGITS, "0") + random), expiresAt: now + NONCE_LIFETIME };
    },

    useStatements(nonce, issuedAt) {
      const expiresAt = (readIssueTime(nonce) ?? issuedAt) + NONCE_LIFETIME;
      if (expiresAt <= Date.now()) throw invalidNonce();
      return useOnceStatements(PURPOSE, nonce, expiresAt);
    },
  };
}
