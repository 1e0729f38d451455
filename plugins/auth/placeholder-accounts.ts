// Creates placeholder accounts, which own agents provisioned without an account until a user claims them. Sign-in to
// one is impossible: it has no password, and its address receives no mail.
import type { Statement } from "../../src/kernel/database/database.ts";
import type { Kernel } from "../../src/kernel/plugin.ts";
import { PLACEHOLDER_DOMAIN } from "./email.ts";
import { generateReferralCode, type Users } from "./users.ts";

export interface PlaceholderAccounts {
  /** A new account, for the batch that creates what it owns. It has the plan `free` and no subscription. */
  createStatements(name: string): { id: string; statements: Statement[] };
  /** Deletes a placeholder account with what it still owns; changes nothing if the id is that of a regular account. */
  deleteStatement(id: string): Statement;
}

const INSERT = `INSERT INTO users (id, email, name, referral_code, created_at, updated_at) VALUES (?1, ?2, ?3, ?4, ?5, ?5)`;
const DELETE = "DELETE FROM users WHERE id = ?1 AND email LIKE ?2";

/** Whether the account is a placeholder that was not claimed yet. */
export const isPlaceholderAccount = ({ email }: { email: string }) => email.endsWith(PLACEHOLDER_DOMAIN);

/** Records no events: `user.created` and `user.deleted` are about people. */
export function createPlaceholderAccounts(
  { marks }: Pick<Kernel, "marks">,
  users: Pick<Users, "invalidate">,
): PlaceholderAccounts {
  return {
    createStatements(name) {
      const id = marks.newId();
      // Independent of the id, which API responses show.
      const email = `${crypto.randomUUID()}${PLACEHOLDER_DOMAIN}`;
      return {
        id,
        statements: [{ sql: INSERT, args: [id, email, name, marks.label(generateReferralCode()), Date.now()] }],
      };
    },
    deleteStatement: (id) => ({ sql: DELETE, args: [id, `%${PLACEHOLDER_DOMAIN}`], after: () => users.invalidate(id) }),
  };
}
