// Links the identity that a provider proved to an account, for the session that asked for it.
import { NameTaken, usingNames } from "../../../src/kernel/cells/cells.ts";
import { GuardFailed, isUniqueViolation } from "../../../src/kernel/database/database.ts";
import type { AuthServices } from "../auth-services.ts";
import { credentialStillValidStatements, toUnauthorized } from "../caller-credential.ts";
import { signInName } from "../cells/account-names.ts";
import type { LinkTarget } from "./flows.ts";
import { OAuthFailure } from "./oauth-failure.ts";
import type { ProviderIdentity } from "./provider.ts";
import type { ProviderAccounts } from "./provider-accounts.ts";

export interface IdentityLinking {
  /**
   * Links the identity; a repetition changes nothing. `session`, of the browser that returned from the provider, must be
   * the session that began: otherwise a forged link could make a stranger's browser link to another account.
   * Throws OAuthFailure `SIGN_IN_AGAIN`, `ALREADY_LINKED` or `TOO_MANY_SIGN_INS`, and 401 if the session ended meanwhile.
   */
  link(identity: ProviderIdentity, linkTo: LinkTarget, session: LinkTarget | undefined): Promise<void>;
}

type Deps = Pick<AuthServices, "kernel" | "users" | "linkedAccounts"> & {
  accounts: Pick<ProviderAccounts, "linkStatements">;
};

export function createIdentityLinking({ kernel, users, linkedAccounts, accounts }: Deps): IdentityLinking {
  return {
    async link(identity, { userId, sessionId }, session) {
      const user = session?.userId === userId && session.sessionId === sessionId ? await users.byId(userId) : undefined;
      if (!user || user.disabledAt !== null || user.frozenAt !== null) throw new OAuthFailure("SIGN_IN_AGAIN");
      const owner = await linkedAccounts.findUserId(identity);
      if (owner === userId) return;
      if (owner !== undefined) throw new OAuthFailure("ALREADY_LINKED");
      try {
        await usingNames(kernel.cells, [signInName(identity)], () =>
          kernel.database.write([
            ...credentialStillValidStatements({ userId, credentialId: sessionId }),
            ...linkedAccounts.requireRoomStatements(userId),
            ...accounts.linkStatements(user, identity),
          ]),
        );
      } catch (error) {
        if (isUniqueViolation(error, "linked_accounts.provider") || error instanceof NameTaken)
          throw new OAuthFailure("ALREADY_LINKED");
        if (error instanceof GuardFailed && error.guard === "room") throw new OAuthFailure("TOO_MANY_SIGN_INS");
        if (error instanceof GuardFailed && error.guard === "user") throw new OAuthFailure("SIGN_IN_AGAIN");
        throw toUnauthorized(error);
      }
    },
  };
}
