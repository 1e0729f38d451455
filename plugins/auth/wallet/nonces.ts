// What makes a signed message good for one sign-in: a nonce that is recognised without being stored, until it was used.
import type { Statement } from "../../../src/database.ts";
import { AppError } from "../../../src/errors.ts";
import type { Vault } from "../../../src/vault.ts";
import { useOnce } from "../sign-in/used-once.ts";

/** Contract §3. */
export const NONCE_LIFETIME = 10 * 60_000;

export interface Nonces {
  /** 44 letters and digits, as EIP-4361 wants it; nothing is written. */
  issue(): { nonce: string; expiresAt: number };
  /**
   * Uses a nonce up; aborts its batch with GuardFailed when it was used before. Throws 401 `INVALID_NONCE` when
   * it is too old. One that is not ours (of a client that knows only the interface) is as old as its message.
   */
  use(nonce: string, issuedAt: number): Statement[];
}

/** A nonce was used before, or is too old. */
export const badNonce = () =>
  new AppError(401, "INVALID_NONCE", "This message was used already or is too old. Sign a new one.");

const PURPOSE = "wallet-nonce";
/** Hex digits: milliseconds since 1970, chance, and our mark on both. */
const TIME = 12;
const CHANCE = 16;
const MARK = 16;

export function createNonces(vault: Pick<Vault, "sign">): Nonces {
  const marked = (text: string) => {
    const mark = Buffer.from(vault.sign(PURPOSE, text), "base64url").toString("hex");
    return text + mark.slice(0, MARK);
  };
  /** When we issued it; undefined for one that is not ours. */
  function issuedBy(nonce: string): number | undefined {
    const text = nonce.slice(0, TIME + CHANCE);
    return marked(text) === nonce ? Number.parseInt(text.slice(0, TIME), 16) : undefined;
  }

  return {
    issue() {
      const now = Date.now();
      const chance = Buffer.from(crypto.getRandomValues(new Uint8Array(CHANCE / 2))).toString("hex");
      return { nonce: marked(now.toString(16).padStart(TIME, "0") + chance), expiresAt: now + NONCE_LIFETIME };
    },

    use(nonce, issuedAt) {
      const expiresAt = (issuedBy(nonce) ?? issuedAt) + NONCE_LIFETIME;
      if (expiresAt <= Date.now()) throw badNonce();
      return useOnce(PURPOSE, nonce, expiresAt);
    },
  };
}
