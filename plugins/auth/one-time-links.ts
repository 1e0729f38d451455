// One-use links: 256 random bits in an address, stored hashed, good until they are used, replaced or too old.
import { and, eq, gt, lte } from "drizzle-orm";
import { type Database, guard, type Statement, statement } from "../../src/kernel/database/database.ts";
import { AppError } from "../../src/kernel/errors.ts";
import { randomToken, sha256Hex } from "../../src/kernel/util/tokens.ts";
import { authLinks } from "./schema.ts";

export type OneTimeLinkKind = (typeof authLinks.kind.enumValues)[number];

export interface OneTimeLinkOptions {
  /** Whose link it is; left out for what belongs to no account yet. */
  userId?: string;
  /** The address it is sent to, where that matters. */
  email?: string;
  lifetimeMs: number;
}

export interface OneTimeLinks {
  /** A new token, and what stores it. Older ones of the same kind and user die in the same batch. */
  issue(kind: OneTimeLinkKind, options: OneTimeLinkOptions): { token: string; statements: Statement[] };
  /** Uses the link up; aborts its batch with GuardFailed `link` when it is not good. */
  useStatements(kind: OneTimeLinkKind, token: string): Statement[];
  /** Whose link this is (null: nobody's, or of an account that is gone), and where it was sent; undefined when it is not good. */
  find(kind: OneTimeLinkKind, token: string): Promise<{ userId: string | null; email: string | null } | undefined>;
  /** Ends a user's open links of this kind. */
  revokeStatement(kind: OneTimeLinkKind, userId: string): Statement;
  /**
   * For the batch that ends an account, before its row goes: open links to reset its password stay, and name nobody. So
   * whoever follows one is told that the account is gone, not that the link is bad.
   */
  orphanStatement(userId: string): Statement;
  /** Takes away those that are too old. */
  sweepStatement(): Statement;
}

/** 400 for a link that is not good; which of the reasons it was is nobody's business. */
export const invalidLink = (cause?: unknown, text = "This link was used already or is too old. Ask for a new one.") =>
  new AppError(400, "INVALID_LINK", text, {}, { cause });

export function createOneTimeLinks({ drizzle }: Pick<Database, "drizzle">): OneTimeLinks {
  const hasKind = (kind: OneTimeLinkKind) => eq(authLinks.kind, kind);
  const isValid = (kind: OneTimeLinkKind, token: string) =>
    and(hasKind(kind), eq(authLinks.tokenHash, sha256Hex(token)), gt(authLinks.expiresAt, Date.now()));
  const deleteStatement = (kind: OneTimeLinkKind, userId?: string) =>
    statement(drizzle.delete(authLinks).where(and(hasKind(kind), userId ? eq(authLinks.userId, userId) : undefined)));

  return {
    issue(kind, { userId, email, lifetimeMs }) {
      const token = randomToken();
      const row = {
        tokenHash: sha256Hex(token),
        kind,
        userId: userId ?? null,
        email: email ?? null,
        expiresAt: Date.now() + lifetimeMs,
      };
      return { token, statements: [deleteStatement(kind, userId), statement(drizzle.insert(authLinks).values(row))] };
    },
    useStatements: (kind, token) => [statement(drizzle.delete(authLinks).where(isValid(kind, token))), guard("link")],
    async find(kind, token) {
      const columns = { userId: authLinks.userId, email: authLinks.email };
      const [found] = await drizzle.select(columns).from(authLinks).where(isValid(kind, token));
      return found;
    },
    revokeStatement: deleteStatement,
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
