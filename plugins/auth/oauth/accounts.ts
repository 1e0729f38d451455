// From what a provider says of somebody to an account here: the one that is linked, the one with this address, or a new one.
import { and, eq, isNull } from "drizzle-orm";
import { GuardFailed, guard, isUniqueViolation, type Statement, statement } from "../../../src/database.ts";
import { AppError } from "../../../src/errors.ts";
import { requireEmail } from "../email.ts";
import type { AuthParts } from "../parts.ts";
import { users as userRows } from "../schema.ts";
import type { User } from "../users.ts";
import { OAuthFailure } from "./failure.ts";
import type { ProviderIdentity } from "./provider.ts";

/** Whose account it is. */
export interface Entry {
  userId: string;
  /**
   * A code of the second factor is asked for first, since a provider stands in for the password alone: to come in, or to
   * link what is not linked yet as well.
   */
  codeTo?: "enter" | "link";
}

/** Who has come, beside what the provider says. */
interface Visitor {
  address: string;
  /** The language of mails to a new account. */
  locale: string;
}

export interface Accounts {
  /**
   * Finds, links or makes the account. Throws OAuthFailure `EMAIL_NOT_VERIFIED` or `ACCOUNT_DISABLED`, and 429 where an address
   * makes more accounts than it may sign up.
   */
  enter(identity: ProviderIdentity, visitor: Visitor): Promise<Entry>;
  /**
   * For the batch that links a verified account; aborts it with GuardFailed `user` where the account is not what was read,
   * and by the unique `linked_accounts.provider` where who came is linked already.
   */
  linking(user: User, identity: Pick<ProviderIdentity, "provider" | "subject">): Statement[];
}

/** Of two callbacks at once one is first, and the other then finds what it made. */
const ATTEMPTS = 4;

type Deps = Pick<AuthParts, "kernel" | "users" | "linked" | "mails" | "takeover" | "twoFactor">;

export function createAccounts({ kernel, users, linked, mails, takeover, twoFactor }: Deps): Accounts {
  const { database, limits } = kernel;

  /** Undefined: something changed meanwhile; look again. */
  async function find(identity: ProviderIdentity, visitor: Visitor): Promise<Entry | undefined> {
    const owner = await linked.find(identity);
    if (owner !== undefined) {
      const user = await users.byId(owner);
      return user && admitted(user, "enter");
    }
    const email = emailOf(identity);
    const user = await users.byEmail(email);
    if (!user) return make(email, identity, visitor);
    const entry = await admitted(user, "link");
    // The provider's word that the address is verified makes this the owner's account. Contract §3.
    if (!user.emailVerified) {
      // The second factor stays where an address was ever verified.
      return (await written(user.id, takingOver(user, identity))) ? admitted(user, "enter") : undefined;
    }
    if (entry.codeTo) return entry;
    return (await written(user.id, linking(user, identity))) ? entry : undefined;
  }

  async function admitted({ id, disabledAt }: User, codeTo: "enter" | "link"): Promise<Entry> {
    if (disabledAt !== null) throw new OAuthFailure("ACCOUNT_DISABLED");
    return (await twoFactor.since(id)) ? { userId: id, codeTo } : { userId: id };
  }

  /** Holds the batch to what was read: it must not link an account that has just got another address or a second factor. */
  function still(user: User): Statement[] {
    const same = and(
      eq(userRows.id, user.id),
      eq(userRows.email, user.email),
      eq(userRows.emailVerified, user.emailVerified),
      eq(userRows.twoFactorEnabled, user.twoFactorEnabled),
      isNull(userRows.disabledAt),
    );
    const update = database.drizzle.update(userRows).set({ updatedAt: Date.now() });
    return [{ ...statement(update.where(same)), after: () => users.forget(user.id) }, guard("user")];
  }

  const linking: Accounts["linking"] = (user, { provider, subject }) => [
    ...still(user),
    linked.link({ provider, subject }, user.id),
    ...mails.signInMethodAdded(user, provider),
  ];

  /** Nobody ever showed that this account's address is theirs: whoever made it may be waiting for the owner to come. */
  const takingOver = (user: User, identity: ProviderIdentity) => [
    ...still(user),
    ...takeover.strangersOut(user.id),
    users.update(user.id, { emailVerified: true, passwordHash: null }),
    linked.link(identity, user.id),
    ...mails.signInMethodAdded({ ...user, emailVerified: true }, identity.provider),
  ];

  async function make(
    email: string,
    identity: ProviderIdentity,
    { address, locale }: Visitor,
  ): Promise<Entry | undefined> {
    await limits.require("sign-up", address);
    const account = { email, name: oneLine(identity.name), passwordHash: null, emailVerified: true, locale };
    try {
      return { userId: (await users.create(account, (made) => [linked.link(identity, made.id)])).id };
    } catch (error) {
      const raced = error instanceof AppError && error.code === "USER_EXISTS";
      if (raced || isUniqueViolation(error, "linked_accounts.provider")) return undefined;
      throw error;
    }
  }

  /** False, and nothing done, when something changed meanwhile. */
  async function written(userId: string, batch: Statement[]): Promise<boolean> {
    try {
      await database.write(batch);
      return true;
    } catch (error) {
      if (error instanceof GuardFailed || isUniqueViolation(error, "linked_accounts.provider")) {
        users.forget(userId);
        return false;
      }
      throw error;
    }
  }

  return {
    linking,
    async enter(identity, visitor) {
      for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
        const entry = await find(identity, visitor);
        if (entry) return entry;
      }
      throw new OAuthFailure("SIGN_IN_FAILED", "the account changes all the time");
    },
  };
}

/** By the rules of sign-up: a provider can vouch for none of the addresses that are kept for wallets. */
function emailOf({ email }: ProviderIdentity): string {
  if (email === undefined) throw new OAuthFailure("EMAIL_NOT_VERIFIED");
  try {
    return requireEmail(email);
  } catch (error) {
    if (error instanceof AppError) throw new OAuthFailure("EMAIL_NOT_VERIFIED", "the address is none that Berth takes");
    throw error;
  }
}

/** A name by the rules of sign-up, made of whatever a profile holds. */
const oneLine = (name: string | undefined) =>
  name
    ?.replace(/[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]+/gu, " ")
    .toWellFormed()
    .slice(0, 200)
    .trim();
