// An account whose address nobody ever verified may have been made by a stranger who waits for its owner to come.
import type { Statement } from "../../../src/database.ts";
import type { AuthParts } from "../parts.ts";

/**
 * Gives what takes away, in the write of a takeover, what a capability holds that would go on serving whoever had the
 * account before: what tells them of it, acts in their name, or lets them in. Where something is in memory too, or belongs
 * to another process, give the job that does it.
 */
export type OnTakeover = (userId: string) => Statement[];

export interface Takeover {
  /**
   * For the batch in which the owner of the address takes such an account over, before what makes the address count as
   * verified: everything but the password that would let somebody else in, or keep the owner out, goes. Two-factor stays
   * where another address of the account was verified before: see `TwoFactor.dropUnowned`.
   */
  strangersOut(userId: string): Statement[];
  /** Asked at every takeover. */
  on(hook: OnTakeover): void;
}

type Deps = Pick<AuthParts, "sessions" | "keys" | "linked" | "links" | "twoFactor">;

export function createTakeover({ sessions, keys, linked, links, twoFactor }: Deps): Takeover {
  const hooks: OnTakeover[] = [];
  return {
    strangersOut: (userId) => [
      sessions.revokeAll(userId),
      keys.revokeAll(userId),
      linked.unlinkAll(userId),
      links.revoke("verify-email", userId),
      links.revoke("reset-password", userId),
      ...twoFactor.dropUnowned(userId),
      ...hooks.flatMap((hook) => hook(userId)),
    ],
    on: (hook) => void hooks.push(hook),
  };
}
