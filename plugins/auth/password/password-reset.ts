// A forgotten password: a link to the account's address, which sets a new one once.
import { GuardFailed, guard, type Statement } from "../../../src/kernel/database/database.ts";
import { AppError } from "../../../src/kernel/errors.ts";
import { HOUR } from "../../../src/kernel/util/time.ts";
import type { AuthServices } from "../auth-services.ts";
import { isInternalEmail } from "../email.ts";
import { invalidLink } from "../one-time-links.ts";
import { requirePassword } from "./passwords.ts";

/** Contract §3. */
const LINK_LIFETIME_MS = HOUR;
/** Interface, "Limits": shorter than elsewhere. */
const MIN_RESET_PASSWORD_LENGTH = 6;
/**
 * The job waits so long, and by chance up to four times as long again: its work, more where there is an account, must not
 * be felt by the request that follows.
 */
const BASE_DELAY_MS = 100;

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
export function createPasswordReset(services: AuthServices): PasswordReset {
  const { kernel, users, oneTimeLinks, mails, passwords, sessions, keys, accountReclaim } = services;
  const { config, database, jobs, limits, vault } = kernel;

  /** A link for this address, if there is an account that may have one. */
  async function resetLinkStatements(email: string): Promise<Statement[]> {
    const user = await users.byEmail(email);
    if (!user || user.disabledAt !== null || isInternalEmail(email)) return [];
    // Whoever asks from many addresses fills nobody's mailbox: beyond the rate there is no mail, and nobody is told.
    if (!limits.take("forgot-password", `user ${user.id}`).allowed) return [];
    const { token, statements } = oneTimeLinks.issue("reset-password", {
      userId: user.id,
      email,
      lifetimeMs: LINK_LIFETIME_MS,
    });
    return [...statements, ...mails.resetPasswordStatements(user, `${config.baseUrl}/reset-password?token=${token}`)];
  }

  jobs.handle(JOB, async (payload) => resetLinkStatements(vault.open(String(payload), JOB)));

  return {
    async request(email) {
      const runAt = Date.now() + BASE_DELAY_MS * (1 + 4 * Math.random());
      await database.write([jobs.enqueueStatement(JOB, vault.seal(email, JOB), { runAt: Math.round(runAt) })]);
    },

    async complete(token, password) {
      requirePassword(password, MIN_RESET_PASSWORD_LENGTH);
      const link = await oneTimeLinks.find("reset-password", token);
      if (!link) throw invalidLink();
      const user = link.userId === null ? undefined : await users.byId(link.userId);
      if (!user) throw new AppError(404, "USER_NOT_FOUND", "The account of this link is gone.");
      if (user.disabledAt !== null || user.email !== link.email) throw invalidLink();
      const { id: userId, email, emailVerified } = user;
      const passwordHash = await passwords.hash(password);
      try {
        await database.write([
          ...oneTimeLinks.useStatements("reset-password", token),
          ...(emailVerified
            ? [sessions.revokeAllStatement(userId), keys.revokeAllStatement(userId)]
            : accountReclaim.revokeAccessStatements(userId)),
          users.updateStatement(userId, { passwordHash, emailVerified: true }, { email, emailVerified }),
          guard("user"),
          oneTimeLinks.revokeStatement("reset-password", userId),
          ...mails.passwordChangedStatements({ ...user, emailVerified: true }),
        ]);
      } catch (error) {
        users.invalidate(userId);
        throw error instanceof GuardFailed ? invalidLink(error) : error;
      }
    },
  };
}
