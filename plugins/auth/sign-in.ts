// Sign-in with email and password: one answer for a wrong password and an unknown address, and a limit on guessing.
import { AppError } from "../../src/errors.ts";
import type { Limits } from "../../src/limits.ts";
import { normalizeEmail } from "./email.ts";
import type { Passwords } from "./passwords.ts";
import type { User, Users } from "./users.ts";

/**
 * Checks the password. Throws 401 `BAD_CREDENTIALS`, the same in body and time for an unknown address, and 429 after too
 * many failures of this account from this address (a stranger elsewhere can't lock the owner out). Contract §3.
 */
export function createSignIn({ users, passwords, limits }: { users: Users; passwords: Passwords; limits: Limits }) {
  return async function signIn(emailText: string, password: string, address: string): Promise<User> {
    const email = normalizeEmail(emailText);
    const guesses = `${email}|${address}`;
    const check = () => {
      limits.refuseWhenSpent("sign-in", guesses);
      limits.refuseWhenSpent("sign-in-ip", address);
    };
    check();
    const user = await users.byEmail(email);
    // Taken when it is this one's turn, or a crowd of guesses at once would all pass; given back for a good one.
    const good = await passwords.verify(password, user?.passwordHash ?? null, async () => {
      check();
      await Promise.all([limits.require("sign-in", guesses), limits.require("sign-in-ip", address)]);
    });
    if (good && user) {
      limits.refund("sign-in", guesses);
      limits.refund("sign-in-ip", address);
      return user;
    }
    throw new AppError(401, "BAD_CREDENTIALS", "Email or password is wrong.");
  };
}
