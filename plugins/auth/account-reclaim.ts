// Revokes all other access to an account when the owner of its unverified address proves ownership. Until then the
// account may belong to a stranger who signed up with the owner's address and waits for them (pre-hijacking).
import type { Statement } from "../../src/kernel/database/database.ts";
import type { ApiKeys } from "./api-keys/api-keys.ts";
import type { LinkedAccounts } from "./oauth/linked-accounts.ts";
import type { OneTimeLinks } from "./one-time-links.ts";
import type { Sessions } from "./sessions.ts";
import type { TwoFactor } from "./two-factor/two-factor.ts";

/**
 * Returns statements for the batch in which the account is reclaimed. They remove what a plugin stores that would go on
 * serving the previous holder: notifications to them, actions in their name, access for them. For state in memory or in
 * another process, return a statement that enqueues a job.
 */
export type OnAccountReclaim = (userId: string) => Statement[];

export interface AccountReclaim {
  /**
   * For the batch in which the owner of the address reclaims the account; place them before the statement that marks
   * the address as verified. They end sessions, API keys, linked accounts and open links, and run the hooks; the caller
   * replaces the password. Two-factor stays if an address of the account was verified before: see
   * `TwoFactor.removeIfNeverVerifiedStatements`.
   */
  revokeAccessStatements(userId: string): Statement[];
  /** The hook is called at every reclaim. */
  registerHook(hook: OnAccountReclaim): void;
}

interface Deps {
  sessions: Pick<Sessions, "revokeAllStatement">;
  keys: Pick<ApiKeys, "revokeAllStatement">;
  linkedAccounts: Pick<LinkedAccounts, "unlinkAllStatement">;
  oneTimeLinks: Pick<OneTimeLinks, "revokeStatement">;
  twoFactor: Pick<TwoFactor, "removeIfNeverVerifiedStatements">;
}

export function createAccountReclaim({
  sessions,
  keys,
  linkedAccounts,
  oneTimeLinks,
  twoFactor,
}: Deps): AccountReclaim {
  const hooks: OnAccountReclaim[] = [];
  return {
    revokeAccessStatements: (userId) => [
      sessions.revokeAllStatement(userId),
      keys.revokeAllStatement(userId),
      linkedAccounts.unlinkAllStatement(userId),
      oneTimeLinks.revokeStatement("verify-email", userId),
      oneTimeLinks.revokeStatement("reset-password", userId),
      ...twoFactor.removeIfNeverVerifiedStatements(userId),
      ...hooks.flatMap((hook) => hook(userId)),
    ],
    registerHook: (hook) => void hooks.push(hook),
  };
}
