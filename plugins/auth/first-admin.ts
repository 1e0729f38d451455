// The one-use link that makes the first admin account, printed while there is no account at all.
import { eq } from "drizzle-orm";
import { GuardFailed, guard, statement } from "../../src/database.ts";
import { AppError } from "../../src/errors.ts";
import type { Kernel } from "../../src/plugin.ts";
import { authLinks } from "./schema.ts";
import type { Account, Users } from "./users.ts";

/** A day: long enough to come back to the terminal. A new start prints a new one. */
const LIFETIME = 86_400_000;

const hashed = (token: string) => new Bun.CryptoHasher("sha256").update(token).digest("hex");

export interface FirstAdmin {
  /** A new link, replacing older ones; undefined when there are accounts already. */
  link(): Promise<string | undefined>;
  /** Uses the link up. 400 `INVALID_LINK` when it was used, is too old or was never given out. */
  create(token: string, account: { email: string; name?: string | undefined; passwordHash: string }): Promise<Account>;
}

export function createFirstAdmin({ database, config }: Pick<Kernel, "database" | "config">, users: Users): FirstAdmin {
  const ofKind = eq(authLinks.kind, "first-admin");

  return {
    async link() {
      if (await users.any()) return undefined;
      const token = Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString("base64url");
      const row = { tokenHash: hashed(token), kind: "first-admin" as const, expiresAt: Date.now() + LIFETIME };
      await database.write([
        statement(database.drizzle.delete(authLinks).where(ofKind)),
        statement(database.drizzle.insert(authLinks).values(row)),
      ]);
      return `${config.baseUrl}/setup?token=${token}`;
    },

    async create(token, account) {
      const use = {
        sql: "DELETE FROM auth_links WHERE kind = 'first-admin' AND token_hash = ? AND expires_at > ?",
        args: [hashed(token), Date.now()],
      };
      try {
        return await users.create({ ...account, emailVerified: true, isAdmin: true }, () => [use, guard("link")]);
      } catch (error) {
        if (!(error instanceof GuardFailed)) throw error;
        const text = "This link was used already or is too old. Start Berth again for a new one.";
        throw new AppError(400, "INVALID_LINK", text, {}, { cause: error });
      }
    },
  };
}
