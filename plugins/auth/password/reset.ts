// A forgotten password: a link to the account's address, which sets a new one once.
import { GuardFailed, guard, type Statement } from "../../../src/database.ts";
import { AppError } from "../../../src/errors.ts";
import { isInternalEmail } from "../email.ts";
import { badLink } from "../links.ts";
import type { AuthParts } from "../parts.ts";
import { requirePassword } from "./passwords.ts";

/** Contract §3. */
const LIFETIME = 3_600_000;
/** Interface, "Limits": shorter than elsewhere. */
const MIN_LENGTH = 6;
/**
 * The job waits so long, and by chance up to four times as long again: its work, more where there is an account, must not
 * be felt by the request that follows.
 */
const DELAY_MS = 100;

const JOB = "auth.forgot-password";

export interface PasswordReset {
  /** Does the same work for every address; whether there is an account is found out later, by a job. */
  request(email: string): Promise<void>;
  /**
   * Sets the password. Every session and API key of the account ends, so do other links, and the address counts as
   * verified, since the link was sent there. If it was not until then, it is taken over: see `Takeover`.
   * 400 `INVALID_LINK` or `INVALID_PASSWORD`, 404 `USER_NOT_FOUND`.
   */
  complete(token: string, password: string): Promise<void>;
}

/** Says who does its jobs: make one of it. */
export function createPasswordReset(parts: AuthParts): PasswordReset {
  const { kernel, users, links, mails, passwords, sessions, keys, takeover } = parts;
  const { config, database, jobs, limits, vault } = kernel;

  /** A link for this address, if there is an account that may have one. */
  async function linkFor(email: string): Promise<Statement[]> {
    const user = await users.byEmail(email);
    if (!user || user.disabledAt !== null || isInternalEmail(email)) return [];
    // Whoever asks from many addresses fills nobody's mailbox: beyond the rate there is no mail, and nobody is told.
    if (!limits.take("forgot-password", `user ${user.id}`).allowed) return [];
    const { token, statements } = links.issue("reset-password", { userId: user.id, email, lifetimeMs: LIFETIME });
    return [...statements, ...mails.resetPassword(user, `${config.baseUrl}/reset-password?token=${token}`)];
  }

  jobs.handle(JOB, async (payload) => linkFor(vault.open(String(payload), JOB)));

  return {
    async request(email) {
      const runAt = Date.now() + DELAY_MS * (1 + 4 * Math.random());
      await database.write([jobs.enqueue(JOB, vault.seal(email, JOB), { runAt: Math.round(runAt) })]);
    },

    async complete(token, password) {
      requirePassword(password, MIN_LENGTH);
      const link = await links.find("reset-password", token);
      if (!link) throw badLink();
      const user = link.userId === null ? undefined : await users.byId(link.userId);
      if (!user) throw new AppError(404, "USER_NOT_FOUND", "The account of this link is gone.");
      if (user.disabledAt !== null || user.email !== link.email) throw badLink();
      const { id: userId, email, emailVerified } = user;
      const passwordHash = await passwords.hash(password);
      try {
        await database.write([
          ...links.use("reset-password", token),
          ...(emailVerified ? [sessions.revokeAll(userId), keys.revokeAll(userId)] : takeover.strangersOut(userId)),
          users.update(userId, { passwordHash, emailVerified: true }, { email, emailVerified }),
          guard("user"),
          links.revoke("reset-password", userId),
          ...mails.passwordChanged({ ...user, emailVerified: true }),
        ]);
      } catch (error) {
        users.forget(userId);
        throw error instanceof GuardFailed ? badLink(error) : error;
      }
    },
  };
}
