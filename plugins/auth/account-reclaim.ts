// An account whose address nobody ever verified may have been made by a stranger who waits for its owner to come.
import type { Statement } from "../../src/kernel/database/database.ts";
import type { ApiKeys } from "./api-keys/api-keys.ts";
import type { LinkedAccounts } from "./linked-accounts.ts";
import type { OneTimeLinks } from "./one-time-links.ts";
import type { Sessions } from "./sessions.ts";
import type { TwoFactor } from "./two-factor/two-factor.ts";

/**
 * Gives what takes away, in the write of a takeover, what a capability holds that would go on serving whoever had the
 * account before: what tells them of it, acts in their name, or lets them in. Where something is in memory too, or belongs
 * to another process, give the job that does it.
 */
export type OnAccountReclaim = (userId: string) => Statement[];

export interface AccountReclaim {
  /**
   * For the batch in which the owner of the address takes such an account over, before what makes the address count as
   * verified: everything but the password that would let somebody else in, or keep the owner out, goes. Two-factor stays
   * where another address of the account was verified before: see `TwoFactor.dropUnowned`.
   */
  revokeAccessStatements(userId: string): Statement[];
  /** Asked at every takeover. */
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
