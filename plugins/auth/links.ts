// One-use links: 256 random bits in an address, stored hashed, good until they are used, replaced or too old.
import { and, eq, gt, lte } from "drizzle-orm";
import { type Database, guard, type Statement, statement } from "../../src/database.ts";
import { AppError } from "../../src/errors.ts";
import { authLinks } from "./schema.ts";

export type LinkKind = (typeof authLinks.kind.enumValues)[number];

export interface LinkFor {
  /** Whose link it is; left out for what belongs to no account yet. */
  userId?: string;
  /** The address it is sent to, where that matters. */
  email?: string;
  lifetimeMs: number;
}

export interface Links {
  /** A new token, and what stores it. Older ones of the same kind and user die in the same batch. */
  issue(kind: LinkKind, options: LinkFor): { token: string; statements: Statement[] };
  /** Uses the link up; aborts its batch with GuardFailed `link` when it is not good. */
  use(kind: LinkKind, token: string): Statement[];
  /** Whose link this is (null: nobody's, or of an account that is gone), and where it was sent; undefined when it is not good. */
  find(kind: LinkKind, token: string): Promise<{ userId: string | null; email: string | null } | undefined>;
  /** Ends a user's open links of this kind. */
  revoke(kind: LinkKind, userId: string): Statement;
  /**
   * For the batch that ends an account, before its row goes: open links to reset its password stay, and name nobody. So
   * whoever follows one is told that the account is gone, not that the link is bad.
   */
  orphan(userId: string): Statement;
  /** Takes away those that are too old. */
  sweep(): Statement;
}

/** 400 for a link that is not good; which of the reasons it was is nobody's business. */
export const badLink = (cause?: unknown) =>
  new AppError(400, "INVALID_LINK", "This link was used already or is too old. Ask for a new one.", {}, { cause });

const hashed = (token: string) => new Bun.CryptoHasher("sha256").update(token).digest("hex");

export function createLinks({ drizzle }: Pick<Database, "drizzle">): Links {
  const ofKind = (kind: LinkKind) => eq(authLinks.kind, kind);
  const good = (kind: LinkKind, token: string) =>
    and(ofKind(kind), eq(authLinks.tokenHash, hashed(token)), gt(authLinks.expiresAt, Date.now()));
  const older = (kind: LinkKind, userId?: string) =>
    statement(drizzle.delete(authLinks).where(and(ofKind(kind), userId ? eq(authLinks.userId, userId) : undefined)));

  return {
    issue(kind, { userId, email, lifetimeMs }) {
      const token = Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString("base64url");
      const row = {
        tokenHash: hashed(token),
        kind,
        userId: userId ?? null,
        email: email ?? null,
        expiresAt: Date.now() + lifetimeMs,
      };
      return { token, statements: [older(kind, userId), statement(drizzle.insert(authLinks).values(row))] };
    },
    use: (kind, token) => [statement(drizzle.delete(authLinks).where(good(kind, token))), guard("link")],
    async find(kind, token) {
      const columns = { userId: authLinks.userId, email: authLinks.email };
      const [found] = await drizzle.select(columns).from(authLinks).where(good(kind, token));
      return found;
    },
    revoke: older,
    orphan: (userId) =>
      statement(
        drizzle
          .update(authLinks)
          .set({ userId: null, email: null })
          .where(and(ofKind("reset-password"), eq(authLinks.userId, userId))),
      ),
    sweep: () => statement(drizzle.delete(authLinks).where(lte(authLinks.expiresAt, Date.now()))),
  };
}
