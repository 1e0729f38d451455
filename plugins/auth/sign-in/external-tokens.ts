// Resolves bearer tokens of other plugins to an account. They only identify it (`GET /api/auth/session`), and authorize
// nothing.
import type { RateLimiter } from "../../../src/kernel/security/rate-limits/rate-limiter.ts";
import { bearerOf, takeAccountRate } from "../identity.ts";
import type { User, Users } from "../users.ts";

/** Returns account and expiry (epoch ms) of a bearer token; undefined if the token is not one of this plugin. */
export type ExternalTokenResolver = (token: string) => Promise<{ userId: string; expiresAt: number } | undefined>;

export interface ExternalTokens {
  /** Resolvers are tried in the order of registration. */
  registerResolver(resolver: ExternalTokenResolver): void;
  /**
   * The account of this request's bearer token; undefined if there is none or it is disabled. 429 past the account's
   * rate.
   */
  resolve(request: Request): Promise<{ user: User; expiresAt: number } | undefined>;
}

export function createExternalTokens({
  users,
  limits,
}: {
  users: Pick<Users, "byId">;
  limits: RateLimiter;
}): ExternalTokens {
  const resolvers: ExternalTokenResolver[] = [];
  return {
    registerResolver: (resolver) => void resolvers.push(resolver),

    async resolve(request) {
      const token = bearerOf(request);
      if (token === undefined) return undefined;
      for (const resolver of resolvers) {
        const found = await resolver(token);
        const user = found && (await users.byId(found.userId));
        if (!user || user.disabledAt !== null) continue;
        takeAccountRate(limits, user.id);
        return { user, expiresAt: found.expiresAt };
      }
      return undefined;
    },
  };
}
