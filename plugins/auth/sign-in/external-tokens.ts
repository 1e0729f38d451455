// Tokens of other capabilities that tell whose account it is, and let nobody into it.
import type { RateLimiter } from "../../../src/kernel/security/rate-limits/rate-limiter.ts";
import { bearerOf, takeAccountRate } from "../identity.ts";
import type { User, Users } from "../users.ts";

/** Whose account a bearer token speaks of, and until when (epoch ms); undefined where it means nothing to the capability. */
export type ExternalTokenResolver = (token: string) => Promise<{ userId: string; expiresAt: number } | undefined>;

export interface ExternalTokens {
  /** Asked where a bearer token is no API key. */
  registerResolver(resolver: ExternalTokenResolver): void;
  /** Whom this request's bearer token speaks of; undefined for nobody, and for a disabled account. 429 past the rate. */
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
