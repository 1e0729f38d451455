// One-time links: a random 256-bit token, stored as its hash, valid until it is used, replaced or expired.
import { and, eq, gt, lte, type SQL } from "drizzle-orm";
import { type Database, guard, type Statement, statement } from "../../src/kernel/database/database.ts";
import { AppError } from "../../src/kernel/errors.ts";
import type { Kernel } from "../../src/kernel/plugin.ts";
import { randomToken, sha256Hex } from "../../src/kernel/util/tokens.ts";
import { authLinks } from "./schema.ts";

export type OneTimeLinkKind = (typeof authLinks.kind.enumValues)[number];

export interface OneTimeLinkOptions {
  /** The account of the link; left out for the first admin's link and for invitations, which belong to none yet. */
  userId?: string;
  /** The address that the link is sent to, if it must still be the account's when the link is used. */
  email?: string;
  lifetimeMs: number;
}

export interface OneTimeLinks {
  /** A new token, and the statements that store it and end older links of the same kind and user, or address without one. */
  issue(kind: OneTimeLinkKind, options: OneTimeLinkOptions): { token: string; statements: Statement[] };
  /** Consumes the link; aborts its batch with GuardFailed `link` if the link is not valid. */
  useStatements(kind: OneTimeLinkKind, token: string): Statement[];
  /**
   * Account and address of a valid link, else undefined. `userId` is null without an account, or after its deletion.
   */
  find(kind: OneTimeLinkKind, token: string): Promise<{ userId: string | null; email: string | null } | undefined>;
  /** The same for a link to this address, without its token: for somebody who has proven the address otherwise. */
  useByEmailStatements(kind: OneTimeLinkKind, email: string): Statement[];
  /** Whether there is a valid link to this address. */
  existsForEmail(kind: OneTimeLinkKind, email: string): Promise<boolean>;
  /** Deletes a user's open links of this kind. */
  revokeStatement(kind: OneTimeLinkKind, userId: string): Statement;
  /**
   * For the batch that deletes an account, before the row of the user: detaches its open password-reset links. They
   * stay valid, so that the reset page can say that the account is gone rather than that the link is invalid.
   */
  orphanStatement(userId: string): Statement;
  /** Deletes expired links. */
  sweepStatement(): Statement;
}

/** A 400 for an invalid link. The text does not tell the reason, which could reveal whether a token ever existed. */
export const invalidLink = (cause?: unknown, text = "This link was used already or is too old. Ask for a new one.") =>
  new AppError(400, "INVALID_LINK", text, {}, { cause });

export function createOneTimeLinks({
  database: { drizzle },
  marks,
}: Pick<Kernel, "marks"> & { database: Pick<Database, "drizzle"> }): OneTimeLinks {
  const hasKind = (kind: OneTimeLinkKind) => eq(authLinks.kind, kind);
  const isValid = (kind: OneTimeLinkKind, token: string) =>
    and(hasKind(kind), eq(authLinks.tokenHash, sha256Hex(token)), gt(authLinks.expiresAt, Date.now()));
  const isValidFor = (kind: OneTimeLinkKind, email: string) =>
    and(hasKind(kind), eq(authLinks.email, email), gt(authLinks.expiresAt, Date.now()));
  const deleteStatement = (kind: OneTimeLinkKind, owner?: SQL) =>
    statement(drizzle.delete(authLinks).where(and(hasKind(kind), owner)));
  const belongsTo = (userId: string) => eq(authLinks.userId, userId);

  return {
    issue(kind, { userId, email, lifetimeMs }) {
      const token = marks.token(randomToken());
      const row = {
        tokenHash: sha256Hex(token),
        kind,
        userId: userId ?? null,
        email: email ?? null,
        expiresAt: Date.now() + lifetimeMs,
      };
      const owner = userId ? belongsTo(userId) : email ? eq(authLinks.email, email) : undefined;
      return { token, statements: [deleteStatement(kind, owner), statement(drizzle.insert(authLinks).values(row))] };
    },
    useStatements: (kind, token) => [statement(drizzle.delete(authLinks).where(isValid(kind, token))), guard("link")],
    useByEmailStatements: (kind, email) => [
      statement(drizzle.delete(authLinks).where(isValidFor(kind, email))),
      guard("link"),
    ],
    existsForEmail: async (kind, email) =>
      (await drizzle.select({ kind: authLinks.kind }).from(authLinks).where(isValidFor(kind, email))).length > 0,
    async find(kind, token) {
      const columns = { userId: authLinks.userId, email: authLinks.email };
      const [found] = await drizzle.select(columns).from(authLinks).where(isValid(kind, token));
      return found;
    },
    revokeStatement: (kind, userId) => deleteStatement(kind, belongsTo(userId)),
    orphanStatement: (userId) =>
      statement(
        drizzle
          .update(authLinks)
          .set({ userId: null, email: null })
          .where(and(hasKind("reset-password"), eq(authLinks.userId, userId))),
      ),
    sweepStatement: () => statement(drizzle.delete(authLinks).where(lte(authLinks.expiresAt, Date.now()))),
  };
}
