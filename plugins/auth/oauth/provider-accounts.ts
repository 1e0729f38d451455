// Maps a provider identity to an account: the linked one, else the one with the same address, else a new one.
import { and, eq, isNull } from "drizzle-orm";
import { NameTaken, placeNewAccount, requireNameHere, usingNames } from "../../../src/kernel/cells/cells.ts";
import type { Forwarding } from "../../../src/kernel/cells/forwarding.ts";
import {
  GuardFailed,
  guard,
  isUniqueViolation,
  type Statement,
  statement,
} from "../../../src/kernel/database/database.ts";
import { AppError } from "../../../src/kernel/errors.ts";
import type { AuthServices } from "../auth-services.ts";
import { emailName, signInName } from "../cells/account-names.ts";
import { requireEmail } from "../email.ts";
import { users as userTable } from "../schema.ts";
import type { AccountSummary, User } from "../users.ts";
import { toSingleLine } from "./linked-accounts.ts";
import { OAuthFailure } from "./oauth-failure.ts";
import type { ProviderIdentity } from "./provider.ts";

/** The account of a provider identity. */
export interface ResolvedAccount {
  userId: string;
  /**
   * Set if a code of the second factor is required, since a provider replaces the password only: to sign in, or to sign
   * in and link the identity, which is not linked yet.
   */
  codeRequiredTo?: "sign-in" | "link";
}

/** The client of the request. */
interface Visitor {
  address: string;
  /** Two letters: the language of mails if an account is created. */
  locale: string;
  /** What another cell has sent along with the request. */
  forwarding?: Forwarding | undefined;
}

export interface ProviderAccounts {
  /**
   * Finds, links or creates the account. Throws OAuthFailure `EMAIL_NOT_VERIFIED` or `ACCOUNT_DISABLED`, and 429 past
   * the rate of sign-ups of the client's address, and `Elsewhere` for the cell that has the account, or is to have it.
   */
  resolve(identity: ProviderIdentity, visitor: Visitor): Promise<ResolvedAccount>;
  /**
   * For the batch that links an identity to a verified account. Aborts it with GuardFailed `user` if the account has
   * changed since it was read, and by the unique constraint `linked_accounts.provider` if the identity is linked
   * already.
   */
  linkStatements(user: User, identity: Pick<ProviderIdentity, "provider" | "subject" | "label">): Statement[];
}

/** If concurrent callbacks collide, the loser starts again and finds what the winner has created. */
const ATTEMPTS = 4;

type Deps = Pick<
  AuthServices,
  "kernel" | "users" | "linkedAccounts" | "mails" | "accountReclaim" | "twoFactor" | "signUpPolicy" | "auditStatement"
>;

export function createProviderAccounts({
  kernel,
  users,
  linkedAccounts,
  mails,
  accountReclaim,
  twoFactor,
  signUpPolicy,
  auditStatement,
}: Deps): ProviderAccounts {
  const { database, limits, cells } = kernel;

  /** Undefined if the account changed in the meantime: then try again. */
  async function tryResolve(identity: ProviderIdentity, visitor: Visitor): Promise<ResolvedAccount | undefined> {
    const owner = await linkedAccounts.findUserId(identity);
    if (owner !== undefined) {
      const user = await users.byId(owner);
      return user && resolveExisting(user, "sign-in");
    }
    const isLinkPlaced = await requireNameHere(cells, signInName(identity));
    const email = requireVerifiedEmail(identity);
    const user = await users.byEmail(email);
    if (!user) {
      const isPlaced = (await requireNameHere(cells, emailName(email))) || isLinkPlaced;
      if (!isPlaced) await placeNewAccount(cells, visitor.forwarding);
      return createAccount(email, identity, visitor);
    }
    const resolved = await resolveExisting(user, "link");
    // The provider has verified the address, so the visitor owns it: they reclaim the unverified account.
    if (!user.emailVerified) {
      // Two-factor may have stayed on (if an address was ever verified): `resolveExisting` then requires a code.
      return (await tryLink(user.id, identity, reclaimStatements(user, identity)))
        ? resolveExisting(user, "sign-in")
        : undefined;
    }
    if (resolved.codeRequiredTo) return resolved;
    return (await tryLink(user.id, identity, linkStatements(user, identity))) ? resolved : undefined;
  }

  async function resolveExisting(
    { id, disabledAt }: User,
    codeRequiredTo: "sign-in" | "link",
  ): Promise<ResolvedAccount> {
    if (disabledAt !== null) throw new OAuthFailure("ACCOUNT_DISABLED");
    return (await twoFactor.enabledSince(id)) ? { userId: id, codeRequiredTo } : { userId: id };
  }

  /** Aborts the batch if the account has changed since it was read, such as its address or second factor. */
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

  const linkStatements: ProviderAccounts["linkStatements"] = (user, identity) => [
    ...unchangedStatements(user),
    linkedAccounts.linkStatement(identity, user.id),
    ...mails.signInMethodAddedStatements(user, identity),
    auditStatement(user, "sign-in-added", { provider: identity.provider }),
  ];

  /** For an account whose address was never verified: its creator loses access, and the identity is linked. */
  const reclaimStatements = (user: User, identity: ProviderIdentity) => [
    ...unchangedStatements(user),
    ...accountReclaim.revokeAccessStatements(user.id),
    users.updateStatement(user.id, { emailVerified: true, passwordHash: null }),
    linkedAccounts.linkStatement(identity, user.id),
    ...mails.signInMethodAddedStatements({ ...user, emailVerified: true }, identity),
    auditStatement(user, "sign-in-added", { provider: identity.provider, reclaimed: true }),
  ];

  async function createAccount(
    email: string,
    identity: ProviderIdentity,
    { address, locale }: Visitor,
  ): Promise<ResolvedAccount | undefined> {
    await limits.takeOrThrow("sign-up", address);
    const admission = await signUpPolicy.admit(email, { isEmailProven: true }).catch(toClosedFailure);
    const account = { email, name: toSingleLine(identity.name), passwordHash: null, emailVerified: true, locale };
    try {
      return {
        userId: await usingNames(cells, [signInName(identity)], async () => {
          const link = (created: AccountSummary) => [
            linkedAccounts.linkStatement(identity, created.id),
            ...admission,
            auditStatement(created, "sign-up", { by: identity.provider }),
          ];
          return (await users.create(account, link)).id;
        }),
      };
    } catch (error) {
      const hasRaced = (error instanceof AppError && error.code === "USER_EXISTS") || error instanceof NameTaken;
      // An invitation that was used meanwhile is looked for again.
      if (hasRaced || error instanceof GuardFailed || isUniqueViolation(error, "linked_accounts.provider"))
        return undefined;
      throw error;
    }
  }

  /** Writes the batch; returns false, with nothing written, if the account changed in the meantime. */
  async function tryLink(userId: string, identity: ProviderIdentity, statements: Statement[]): Promise<boolean> {
    try {
      await usingNames(cells, [signInName(identity)], () => database.write(statements));
      return true;
    } catch (error) {
      const isLinked = isUniqueViolation(error, "linked_accounts.provider") || error instanceof NameTaken;
      if (error instanceof GuardFailed || isLinked) {
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
      throw new OAuthFailure("SIGN_IN_FAILED", "the account kept changing, gave up");
    },
  };
}

function toClosedFailure(error: unknown): never {
  throw error instanceof AppError && error.code === "SIGN_UP_CLOSED" ? new OAuthFailure("SIGN_UP_CLOSED") : error;
}

/** Applies the rules of sign-up: the domains that Berth reserves are refused, also from a provider. */
function requireVerifiedEmail({ email }: ProviderIdentity): string {
  if (email === undefined) throw new OAuthFailure("EMAIL_NOT_VERIFIED");
  try {
    return requireEmail(email);
  } catch (error) {
    if (error instanceof AppError) throw new OAuthFailure("EMAIL_NOT_VERIFIED", "Berth does not accept this address");
    throw error;
  }
}
