// Passwords: argon2id off the main thread, a bounded number at a time, and the same work for an account that doesn't exist.
import { availableParallelism } from "node:os";
import { invalid } from "../../../src/errors.ts";

/** OWASP's second recommendation for argon2id: 19 MiB, 2 passes. About 26 ms a hash on one core. */
const ARGON2ID = { algorithm: "argon2id", memoryCost: 19 * 1024, timeCost: 2 } as const;

/** One core stays with the rest of the service, which would wait behind hashing otherwise; and each takes 19 MiB. */
const AT_ONCE = Math.min(Math.max(availableParallelism() - 1, 1), 4);

/** What a password is compared with where there is none: as much work, and no password has it. */
const DECOY = `$argon2id$v=19$m=${ARGON2ID.memoryCost},t=${ARGON2ID.timeCost},p=1$${"A".repeat(43)}$${"A".repeat(43)}`;

export interface Passwords {
  hash(password: string): Promise<string>;
  /**
   * False for a wrong password. Without a hash it takes as long and is false. `admit` is asked when it is this one's turn,
   * and may throw.
   */
  verify(password: string, hash: string | null, admit?: () => Promise<void>): Promise<boolean>;
}

export const MIN_PASSWORD = 8;
/** Longer ones only cost hashing time. */
export const MAX_PASSWORD = 1024;

export function requirePassword(password: string, minimum = MIN_PASSWORD): void {
  const length = [...password].length;
  if (length < minimum || length > MAX_PASSWORD) {
    const message =
      length < minimum ? `Use at least ${minimum} characters.` : `Use at most ${MAX_PASSWORD} characters.`;
    throw invalid({ path: "password", message }, "INVALID_PASSWORD");
  }
}

export function createPasswords(): Passwords {
  const waiting: (() => void)[] = [];
  let running = 0;

  async function bounded<T>(work: () => Promise<T>): Promise<T> {
    if (running >= AT_ONCE) await new Promise<void>((resolve) => waiting.push(resolve));
    else running++;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else running--;
    }
  }

  return {
    hash: (password) => bounded(() => Bun.password.hash(password.normalize("NFC"), ARGON2ID)),
    verify: (password, stored, admit) =>
      bounded(async () => {
        await admit?.();
        const matches = await Bun.password.verify(password.normalize("NFC"), stored ?? DECOY);
        return stored !== null && matches;
      }),
  };
}
