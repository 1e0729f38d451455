// Resets forgotten passwords by a mailed one-time link.
import { GuardFailed, guard, type Statement } from "../../../src/kernel/database/database.ts";
import { AppError } from "../../../src/kernel/errors.ts";
import { HOUR } from "../../../src/kernel/util/time.ts";
import type { AuthServices } from "../auth-services.ts";
import { emailName } from "../cells/account-names.ts";
import { isInternalEmail } from "../email.ts";
import { invalidLink } from "../one-time-links.ts";
import { requirePassword } from "./passwords.ts";

/** Links are valid for one hour. */
const LINK_LIFETIME_MS = HOUR;
/** The API's promise to programs. Our own form asks for `MIN_PASSWORD_LENGTH`, like every other. */
const MIN_RESET_PASSWORD_LENGTH = 6;
/**
 * Milliseconds; the job starts after one to five times this, at random. A job does more work if the account exists,
 * which the duration of a following request must not reveal.
 */
const BASE_DELAY_MS = 100;

const JOB = "auth.forgot-password";

export interface PasswordReset {
  /** Enqueues a job, for every address alike, so that the response does not reveal whether an account exists. */
  request(email: string): Promise<void>;
  /**
   * Sets the password. Every session, API key and other reset link of the account ends, and the address becomes
   * verified, since the link was sent there. If it was unverified, the account is reclaimed: see `AccountReclaim`.
   * Throws 400 `INVALID_LINK`, `INVALID_PASSWORD` or `PASSWORD_TOO_COMMON`, and 404 `USER_NOT_FOUND`.
   */
  complete(token: string, password: string): Promise<void>;
}

/** Registers a job handler: create it once. */
export function createPasswordReset(services: AuthServices): PasswordReset {
  const { kernel, users, oneTimeLinks, mails, passwords, sessions, keys, accountReclaim, auditStatement } = services;
  const { config, database, jobs, keyRotation, limits, vault, cells } = kernel;

  /** Issues and mails a link, if the address has an account that may reset its password. */
  async function resetLinkStatements(email: string): Promise<Statement[]> {
    const user = await users.byEmail(email);
    if (!user) await askOther(email);
    if (!user || user.disabledAt !== null || isInternalEmail(email)) return [];
    // Limited per account, so that requests from many addresses can't flood its mailbox. Past the rate no mail is sent.
    if (!limits.take("forgot-password", `password ${user.id}`).allowed) return [];
    const { token, statements } = oneTimeLinks.issue("reset-password", {
      userId: user.id,
      email,
      lifetimeMs: LINK_LIFETIME_MS,
    });
    return [...statements, ...mails.resetPasswordStatements(user, `${config.baseUrl}/reset-password?token=${token}`)];
  }

  /** If another cell has the address, it makes the link. In the job, because the duration of the request must not reveal it. */
  async function askOther(email: string): Promise<void> {
    const cell = await cells?.find(emailName(email));
    if (cells && cell !== undefined && cell !== cells.here) await cells.ask(cell, JOB, email);
  }

  cells?.answer(JOB, async (email) => {
    await database.write([jobs.enqueueStatement(JOB, vault.seal(email, JOB))]);
    return "";
  });
  keyRotation.registerColumn({
    label: "password requests",
    table: "jobs",
    keyColumns: ["id"],
    where: `kind = '${JOB}'`,
    sealed: "payload",
    jsonPath: "$",
    sealContext: () => JOB,
  });
  jobs.handle(JOB, async (payload) => resetLinkStatements(vault.open(String(payload), JOB)));

  return {
    async request(email) {
      const runAt = Date.now() + BASE_DELAY_MS * (1 + 4 * Math.random());
      await database.write([jobs.enqueueStatement(JOB, vault.seal(email, JOB), { runAt: Math.round(runAt) })]);
    },

    async complete(token, password) {
      await requirePassword(password, { minimum: MIN_RESET_PASSWORD_LENGTH });
      const link = await oneTimeLinks.find("reset-password", token);
      if (!link) throw invalidLink();
      const user = link.userId === null ? undefined : await users.byId(link.userId);
      if (!user) throw new AppError(404, "USER_NOT_FOUND", "The account of this link is gone.");
      if (user.disabledAt !== null || user.email !== link.email) throw invalidLink();
      const { id: userId, email, emailVerified } = user;
      await requirePassword(password, { minimum: MIN_RESET_PASSWORD_LENGTH, email });
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
          auditStatement(user, "password-reset"),
        ]);
      } catch (error) {
        users.invalidate(userId);
        throw error instanceof GuardFailed ? invalidLink(error) : error;
      }
    },
  };
}
