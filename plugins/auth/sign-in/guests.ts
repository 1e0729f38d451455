// Tokens of other capabilities that tell whose account it is, and let nobody into it.
import type { Limits } from "../../../src/limits.ts";
import { bearerOf } from "../identity.ts";
import type { User, Users } from "../users.ts";

/** Whose account a bearer token speaks of, and until when (epoch ms); undefined where it means nothing to the capability. */
export type Guest = (token: string) => Promise<{ userId: string; expiresAt: number } | undefined>;

export interface Guests {
  /** Asked where a bearer token is no API key. */
  on(guest: Guest): void;
  /** Whom this request's bearer token speaks of; undefined for nobody, and for a disabled account. 429 past the rate. */
  of(request: Request): Promise<{ user: User; expiresAt: number } | undefined>;
}

export function createGuests({ users, limits }: { users: Pick<Users, "byId">; limits: Limits }): Guests {
  const known: Guest[] = [];
  return {
    on: (guest) => void known.push(guest),

    async of(request) {
      const token = bearerOf(request);
      if (token === undefined) return undefined;
      for (const guest of known) {
        const found = await guest(token);
        const user = found && (await users.byId(found.userId));
        if (!user || user.disabledAt !== null) continue;
        const decision = limits.take("default", `user ${user.id}`);
        if (!decision.allowed) throw limits.refusal(decision);
        return { user, expiresAt: found.expiresAt };
      }
      return undefined;
    },
  };
}
