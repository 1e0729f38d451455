// Hashes and verifies passwords with argon2id off the main thread. A semaphore bounds concurrent hashes; an account
// without a password costs the same time as a wrong password.
import { availableParallelism } from "node:os";
import { invalidInput } from "../../../src/kernel/errors.ts";
import { createSemaphore } from "../../../src/kernel/util/semaphore.ts";
import { normalizeEmail } from "../email.ts";
import { isCommonPassword, isTrivialPassword } from "./common-passwords.ts";
import { MAX_PASSWORD_LENGTH, MIN_PASSWORD_LENGTH } from "./length.ts";

/** 19 MiB and 2 passes, from OWASP's Password Storage Cheat Sheet. About 26 ms per hash on one core. */
const ARGON2ID = { algorithm: "argon2id", memoryCost: 19 * 1024, timeCost: 2 } as const;

/** One core stays free, so that hashing does not delay other requests. At most 4, since each hash takes 19 MiB. */
const MAX_CONCURRENT_HASHES = Math.min(Math.max(availableParallelism() - 1, 1), 4);

/** Verified in place of a missing hash, to cost the same time. No password matches it. */
const DUMMY_HASH = `$argon2id$v=19$m=${ARGON2ID.memoryCost},t=${ARGON2ID.timeCost},p=1$${"A".repeat(43)}$${"A".repeat(43)}`;

export interface Passwords {
  hash(password: string): Promise<string>;
  /**
   * Whether the password matches. Without a hash it takes as long and resolves with false. `beforeVerify` runs once the
   * semaphore is acquired, and may throw to cancel the check.
   */
  verify(password: string, hash: string | null, beforeVerify?: () => Promise<void>): Promise<boolean>;
}

interface PasswordRules {
  /** Code points. Default: 8. */
  minimum?: number;
  /** Is named in the error. */
  field?: string;
  /** The account's address, in normalized form. */
  email?: string | undefined;
}

/**
 * Throws 400 `INVALID_PASSWORD` for a wrong length, in code points, and 400 `PASSWORD_TOO_COMMON` for one of the most
 * common passwords, a trivial one or the account's own address.
 */
export async function requirePassword(
  password: string,
  { minimum = MIN_PASSWORD_LENGTH, field = "password", email }: PasswordRules = {},
): Promise<void> {
  const length = [...password].length;
  if (length < minimum || length > MAX_PASSWORD_LENGTH) {
    const message =
      length < minimum ? `Use at least ${minimum} characters.` : `Use at most ${MAX_PASSWORD_LENGTH} characters.`;
    throw invalidInput({ path: field, message }, "INVALID_PASSWORD");
  }
  if (email !== undefined && normalizeEmail(password) === email) {
    throw tooCommon(field, "This is your email address, which is guessed first. Use another password.");
  }
  if (isTrivialPassword(password)) {
    throw tooCommon(
      field,
      "A short piece repeated, or a run such as abcdefgh, is guessed first. Use another password.",
    );
  }
  if (await isCommonPassword(password)) {
    throw tooCommon(field, "This is one of the most common passwords, which are guessed first. Use another one.");
  }
}

const tooCommon = (path: string, message: string) => invalidInput({ path, message }, "PASSWORD_TOO_COMMON");

export function createPasswords(): Passwords {
  const hashing = createSemaphore(MAX_CONCURRENT_HASHES);

  return {
    hash: (password) => hashing.run(() => Bun.password.hash(password.normalize("NFC"), ARGON2ID)),
    verify: (password, storedHash, beforeVerify) =>
      hashing.run(async () => {
        await beforeVerify?.();
        const matches = await Bun.password.verify(password.normalize("NFC"), storedHash ?? DUMMY_HASH);
        return storedHash !== null && matches;
      }),
  };
}
