// Passwords: argon2id off the main thread, a bounded number at a time, and the same work for an account that doesn't exist.
import { availableParallelism } from "node:os";
import { invalidInput } from "../../../src/kernel/errors.ts";
import { createSemaphore } from "../../../src/kernel/util/semaphore.ts";

/** OWASP's second recommendation for argon2id: 19 MiB, 2 passes. About 26 ms a hash on one core. */
const ARGON2ID = { algorithm: "argon2id", memoryCost: 19 * 1024, timeCost: 2 } as const;

/** One core stays with the rest of the service, which would wait behind hashing otherwise; and each takes 19 MiB. */
const MAX_CONCURRENT_HASHES = Math.min(Math.max(availableParallelism() - 1, 1), 4);

/** What a password is compared with where there is none: as much work, and no password has it. */
const DUMMY_HASH = `$argon2id$v=19$m=${ARGON2ID.memoryCost},t=${ARGON2ID.timeCost},p=1$${"A".repeat(43)}$${"A".repeat(43)}`;

export interface Passwords {
  hash(password: string): Promise<string>;
  /**
   * False for a wrong password. Without a hash it takes as long and is false. `admit` is asked when it is this one's turn,
   * and may throw.
   */
  verify(password: string, hash: string | null, beforeVerify?: () => Promise<void>): Promise<boolean>;
}

export const MIN_PASSWORD_LENGTH = 8;
/** Longer ones only cost hashing time. */
export const MAX_PASSWORD_LENGTH = 1024;

export function requirePassword(password: string, minimum = MIN_PASSWORD_LENGTH, field = "password"): void {
  const length = [...password].length;
  if (length < minimum || length > MAX_PASSWORD_LENGTH) {
    const message =
      length < minimum ? `Use at least ${minimum} characters.` : `Use at most ${MAX_PASSWORD_LENGTH} characters.`;
    throw invalidInput({ path: field, message }, "INVALID_PASSWORD");
  }
}

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
