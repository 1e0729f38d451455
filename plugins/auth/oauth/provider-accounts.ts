// From what a provider says of somebody to an account here: the one that is linked, the one with this address, or a new one.
import { and, eq, isNull } from "drizzle-orm";
import {
  GuardFailed,
  guard,
  isUniqueViolation,
  type Statement,
  statement,
} from "../../../src/kernel/database/database.ts";
import { AppError } from "../../../src/kernel/errors.ts";
import type { AuthServices } from "../auth-services.ts";
import { requireEmail } from "../email.ts";
import { users as userTable } from "../schema.ts";
import type { User } from "../users.ts";
import { OAuthFailure } from "./oauth-failure.ts";
import type { ProviderIdentity } from "./provider.ts";

/** Whose account it is. */
export interface ResolvedAccount {
  userId: string;
  /**
   * A code of the second factor is asked for first, since a provider stands in for the password alone: to come in, or to
   * link what is not linked yet as well.
   */
  codeRequiredTo?: "sign-in" | "link";
}

/** Who has come, beside what the provider says. */
interface Visitor {
  address: string;
  /** The language of mails to a new account. */
  locale: string;
}

export interface ProviderAccounts {
  /**
   * Finds, links or makes the account. Throws OAuthFailure `EMAIL_NOT_VERIFIED` or `ACCOUNT_DISABLED`, and 429 where an address
   * makes more accounts than it may sign up.
   */
  resolve(identity: ProviderIdentity, visitor: Visitor): Promise<ResolvedAccount>;
  /**
   * For the batch that links a verified account; aborts it with GuardFailed `user` where the account is not what was read,
   * and by the unique `linked_accounts.provider` where who came is linked already.
   */
  linkStatements(user: User, identity: Pick<ProviderIdentity, "provider" | "subject">): Statement[];
}

/** Of two callbacks at once one is first, and the other then finds what it made. */
const ATTEMPTS = 4;

type Deps = Pick<AuthServices, "kernel" | "users" | "linkedAccounts" | "mails" | "accountReclaim" | "twoFactor">;

export function createProviderAccounts({
  kernel,
  users,
  linkedAccounts,
  mails,
  accountReclaim,
  twoFactor,
}: Deps): ProviderAccounts {
  const { database, limits } = kernel;

  /** Undefined: something changed meanwhile; look again. */
  async function tryResolve(identity: ProviderIdentity, visitor: Visitor): Promise<ResolvedAccount | undefined> {
    const owner = await linkedAccounts.findUserId(identity);
    if (owner !== undefined) {
      const user = await users.byId(owner);
      return user && resolveExisting(user, "sign-in");
    }
    const email = requireVerifiedEmail(identity);
    const user = await users.byEmail(email);
    if (!user) return createAccount(email, identity, visitor);
    const resolved = await resolveExisting(user, "link");
    // The provider's word that the address is verified makes this the owner's account. Contract §3.
    if (!user.emailVerified) {
      // The second factor stays where an address was ever verified.
      return (await tryWrite(user.id, reclaimStatements(user, identity)))
        ? resolveExisting(user, "sign-in")
        : undefined;
    }
    if (resolved.codeRequiredTo) return resolved;
    return (await tryWrite(user.id, linkStatements(user, identity))) ? resolved : undefined;
  }

  async function resolveExisting(
    { id, disabledAt }: User,
    codeRequiredTo: "sign-in" | "link",
  ): Promise<ResolvedAccount> {
    if (disabledAt !== null) throw new OAuthFailure("ACCOUNT_DISABLED");
    return (await twoFactor.enabledSince(id)) ? { userId: id, codeRequiredTo } : { userId: id };
  }

  /** Holds the batch to what was read: it must not link an account that has just got another address or a second factor. */
  function unchangedStatements(user: User): Statement[] {
    const unchanged = and(
      eq(userTable.id, user.id),
      eq(userTable.email, user.email),
      eq(userTable.emailVerified, user.emailVerified),
      eq(userTable.twoFactorEnabled, user.twoFactorEnabled),
      isNull(userTable.disabledAt),
    );
    const update = database.drizzle.update(userTable).set({ updatedAt: Date.now() });
    return [{ ...statement(update.where(unchanged)), after: () => users.invalidate(user.id) }, guard("user")];
  }

  const linkStatements: ProviderAccounts["linkStatements"] = (user, { provider, subject }) => [
    ...unchangedStatements(user),
    linkedAccounts.linkStatement({ provider, subject }, user.id),
    ...mails.signInMethodAddedStatements(user, provider),
  ];

  /** Nobody ever showed that this account's address is theirs: whoever made it may be waiting for the owner to come. */
  const reclaimStatements = (user: User, identity: ProviderIdentity) => [
    ...unchangedStatements(user),
    ...accountReclaim.revokeAccessStatements(user.id),
    users.updateStatement(user.id, { emailVerified: true, passwordHash: null }),
    linkedAccounts.linkStatement(identity, user.id),
    ...mails.signInMethodAddedStatements({ ...user, emailVerified: true }, identity.provider),
  ];

  async function createAccount(
    email: string,
    identity: ProviderIdentity,
    { address, locale }: Visitor,
  ): Promise<ResolvedAccount | undefined> {
    await limits.takeOrThrow("sign-up", address);
    const account = { email, name: toSingleLine(identity.name), passwordHash: null, emailVerified: true, locale };
    try {
      return { userId: (await users.create(account, (made) => [linkedAccounts.linkStatement(identity, made.id)])).id };
    } catch (error) {
      const hasRaced = error instanceof AppError && error.code === "USER_EXISTS";
      if (hasRaced || isUniqueViolation(error, "linked_accounts.provider")) return undefined;
      throw error;
    }
  }

  /** False, and nothing done, when something changed meanwhile. */
  async function tryWrite(userId: string, statements: Statement[]): Promise<boolean> {
    try {
      await database.write(statements);
      return true;
    } catch (error) {
      if (error instanceof GuardFailed || isUniqueViolation(error, "linked_accounts.provider")) {
        users.invalidate(userId);
        return false;
      }
      throw error;
    }
  }

  return {
    linkStatements,
    async resolve(identity, visitor) {
      for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
        const resolved = await tryResolve(identity, visitor);
        if (resolved) return resolved;
      }
      throw new OAuthFailure("SIGN_IN_FAILED", "the account changes all the time");
    },
  };
}

/** By the rules of sign-up: a provider can vouch for none of the addresses that are kept for wallets. */
function requireVerifiedEmail({ email }: ProviderIdentity): string {
  if (email === undefined) throw new OAuthFailure("EMAIL_NOT_VERIFIED");
  try {
    return requireEmail(email);
  } catch (error) {
    if (error instanceof AppError) throw new OAuthFailure("EMAIL_NOT_VERIFIED", "the address is none that Berth takes");
    throw error;
  }
}

/** A name by the rules of sign-up, made of whatever a profile holds. */
const toSingleLine = (name: string | undefined) =>
  name
    ?.replace(/[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]+/gu, " ")
    .toWellFormed()
    .slice(0, 200)
    .trim();
