// Holders: accounts that are nobody's, made to hold what came without one until somebody claims it. Nobody can sign in to
// one: it has no password, and an address where no mail goes.
import type { Statement } from "../../src/kernel/database/database.ts";
import { PLACEHOLDER_DOMAIN } from "./email.ts";
import { generateReferralCode, type Users } from "./users.ts";

export interface PlaceholderAccounts {
  /** A new one, for the batch that gives it what it holds. It has no subscription, and the plan `free`. */
  createStatements(name: string): { id: string; statements: Statement[] };
  /** Ends one, with what it still holds. For the batch that empties it; changes nothing where the account is somebody's. */
  deleteStatement(id: string): Statement;
}

const INSERT = `INSERT INTO users (id, email, name, referral_code, created_at, updated_at) VALUES (?1, ?2, ?3, ?4, ?5, ?5)`;
const DELETE = "DELETE FROM users WHERE id = ?1 AND email LIKE ?2";

/** Whether the account is nobody's so far. */
export const isPlaceholderAccount = ({ email }: { email: string }) => email.endsWith(PLACEHOLDER_DOMAIN);

/** No event tells of them: nobody registered, and nobody leaves. */
export function createPlaceholderAccounts(users: Pick<Users, "invalidate">): PlaceholderAccounts {
  return {
    createStatements(name) {
      const id = Bun.randomUUIDv7();
      // Not the id, which others get to see.
      const email = `${crypto.randomUUID()}${PLACEHOLDER_DOMAIN}`;
      return { id, statements: [{ sql: INSERT, args: [id, email, name, generateReferralCode(), Date.now()] }] };
    },
    deleteStatement: (id) => ({ sql: DELETE, args: [id, `%${PLACEHOLDER_DOMAIN}`], after: () => users.invalidate(id) }),
  };
}
