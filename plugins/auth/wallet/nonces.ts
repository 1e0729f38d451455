// What makes a signed message good for one sign-in: a nonce that is recognised without being stored, until it was used.
import type { Statement } from "../../../src/kernel/database/database.ts";
import { AppError } from "../../../src/kernel/errors.ts";
import type { Vault } from "../../../src/kernel/security/vault.ts";
import { MINUTE } from "../../../src/kernel/util/time.ts";
import { useOnceStatements } from "../sign-in/replay-protection.ts";

/** Contract §3. */
export const NONCE_LIFETIME = 10 * MINUTE;

export interface Nonces {
  /** 44 letters and digits, as EIP-4361 wants it; nothing is written. */
  issue(): { nonce: string; expiresAt: number };
  /**
   * Uses a nonce up; aborts its batch with GuardFailed when it was used before. Throws 401 `INVALID_NONCE` when
   * it is too old. One that is not ours (of a client that knows only the interface) is as old as its message.
   */
  useStatements(nonce: string, issuedAt: number): Statement[];
}

/** A nonce was used before, or is too old. */
export const invalidNonce = () =>
  new AppError(401, "INVALID_NONCE", "This message was used already or is too old. Sign a new one.");

const PURPOSE = "wallet-nonce";
/** Hex digits: milliseconds since 1970, chance, and our mark on both. */
const TIME_DIGITS = 12;
const RANDOM_DIGITS = 16;
const MAC_DIGITS = 16;

export function createNonces(vault: Pick<Vault, "sign">): Nonces {
  const withMac = (text: string) => {
    const mac = Buffer.from(vault.sign(PURPOSE, text), "base64url").toString("hex");
    return text + mac.slice(0, MAC_DIGITS);
  };
  /** When we issued it; undefined for one that is not ours. */
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
