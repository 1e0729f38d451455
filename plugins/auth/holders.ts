// Holders: accounts that are nobody's, made to hold what came without one until somebody claims it. Nobody can sign in to
// one: it has no password, and an address where no mail goes.
import type { Statement } from "../../src/database.ts";
import { HOLDER_DOMAIN } from "./email.ts";
import { referralCode, type Users } from "./users.ts";

export interface Holders {
  /** A new one, for the batch that gives it what it holds. It has no subscription, and the plan `free`. */
  make(name: string): { id: string; statements: Statement[] };
  /** Ends one, with what it still holds. For the batch that empties it; changes nothing where the account is somebody's. */
  end(id: string): Statement;
}

const INSERT = `INSERT INTO users (id, email, name, referral_code, created_at, updated_at) VALUES (?1, ?2, ?3, ?4, ?5, ?5)`;
const END = "DELETE FROM users WHERE id = ?1 AND email LIKE ?2";

/** Whether the account is nobody's so far. */
export const isHolder = ({ email }: { email: string }) => email.endsWith(HOLDER_DOMAIN);

/** No event tells of them: nobody registered, and nobody leaves. */
export function createHolders(users: Pick<Users, "forget">): Holders {
  return {
    make(name) {
      const id = Bun.randomUUIDv7();
      // Not the id, which others get to see.
      const email = `${crypto.randomUUID()}${HOLDER_DOMAIN}`;
      return { id, statements: [{ sql: INSERT, args: [id, email, name, referralCode(), Date.now()] }] };
    },
    end: (id) => ({ sql: END, args: [id, `%${HOLDER_DOMAIN}`], after: () => users.forget(id) }),
  };
}
