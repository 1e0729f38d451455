// The code that is asked for after a provider's sign-in: until it comes there is no session, only a sealed cookie that says who came.
import { GuardFailed, isUniqueViolation } from "../../../src/kernel/database/database.ts";
import { AppError } from "../../../src/kernel/errors.ts";
import { MINUTE } from "../../../src/kernel/util/time.ts";
import type { AuthServices } from "../auth-services.ts";
import type { SignInEvidence } from "../sessions.ts";
import { createSealedCookie } from "../sign-in/sealed-cookie.ts";
import { isTotpRequired } from "../two-factor/two-factor.ts";
import type { User } from "../users.ts";
import type { ProviderIdentity } from "./provider.ts";
import type { ProviderAccounts } from "./provider-accounts.ts";

/** How long somebody may look for their authenticator app. */
const LIFETIME_MS = 10 * MINUTE;

/** Somebody for whom the provider has vouched. */
export interface PendingSignIn {
  userId: string;
  identity: Pick<ProviderIdentity, "provider" | "subject">;
  /** The provider's account is not linked yet: the code makes it so. */
  mustLink: boolean;
  /** A path of our own. */
  callbackUrl: string;
}

interface SealedPendingSignIn extends PendingSignIn {
  /** What the account's security was when the provider vouched. */
  accountState: string;
}

export interface SecondStep {
  /** The `set-cookie` with which this browser may bring the code. */
  begin(pending: PendingSignIn): Promise<string>;
  /**
   * Whose code this is, and what a session for them rests on. Good once, for ten minutes, and only while the account's password, address, second factor and
   * block are what they were: else 401 `SIGN_IN_OVER`. See `TwoFactor.admit` for what a code that is missing or wrong
   * is; wrong ones are also counted by the address they come from.
   */
  finish(
    cookies: string | null,
    totp: unknown,
    from: string,
  ): Promise<{ user: User; evidence: SignInEvidence; callbackUrl: string }>;
  /** Empties the cookie in the browser. */
  readonly clearCookie: string;
}

type Deps = Pick<AuthServices, "kernel" | "users" | "linkedAccounts" | "twoFactor"> & {
  accounts: Pick<ProviderAccounts, "linkStatements">;
};

export function createSecondStep({ kernel, users, linkedAccounts, twoFactor, accounts }: Deps): SecondStep {
  const { limits } = kernel;
  const cookie = createSealedCookie<SealedPendingSignIn>(kernel, {
    name: "berth_two_factor",
    path: "/api/auth/two-factor",
    lifetimeMs: LIFETIME_MS,
    purpose: "second-step",
  });

  async function hashAccountState({ id, passwordHash, email, emailVerified, disabledAt }: User): Promise<string> {
    const accountState = [passwordHash, email, emailVerified, disabledAt, await twoFactor.enabledSince(id)];
    return new Bun.CryptoHasher("sha256").update(JSON.stringify(accountState)).digest("base64url");
  }

  /** The account, as long as it is what it was, and linked to who came or still to be. */
  async function findAccount({
    userId,
    accountState,
    identity,
    mustLink,
  }: SealedPendingSignIn): Promise<User | undefined> {
    const user = await users.byId(userId);
    if (!user || (await hashAccountState(user)) !== accountState) return undefined;
    return (await linkedAccounts.findUserId(identity)) === (mustLink ? undefined : userId) ? user : undefined;
  }

  return {
    async begin(pending) {
      const user = await users.byId(pending.userId);
      if (!user) throw signInExpired();
      return cookie.issue({ ...pending, accountState: await hashAccountState(user) });
    },

    async finish(cookies, totp, from) {
      const pending = cookie.find(cookies);
      const user = pending && (await findAccount(pending));
      if (!user) throw signInExpired();
      // Taken before and given back, or a crowd of guesses at once would all pass.
      await limits.takeOrThrow("sign-in-ip", from);
      try {
        const linkStatements = pending.mustLink ? accounts.linkStatements(user, pending.identity) : [];
        await twoFactor.verifyIfEnabled(user.id, { code: totp, from }, [
          ...cookie.useStatements(pending),
          ...linkStatements,
        ]);
      } catch (error) {
        if (isTotpRequired(error)) limits.refund("sign-in-ip", from);
        if (error instanceof GuardFailed || isUniqueViolation(error, "linked_accounts.provider"))
          throw signInExpired(error);
        throw error;
      }
      limits.refund("sign-in-ip", from);
      const { callbackUrl, identity } = pending;
      return {
        user,
        evidence: { passwordHash: user.passwordHash, linkedAccount: identity, twoFactor: true },
        callbackUrl,
      };
    },

    clearCookie: cookie.clearCookie,
  };
}

const signInExpired = (cause?: unknown) =>
  new AppError(
    401,
    "SIGN_IN_OVER",
    "This sign-in is over, or was begun in another browser. Begin again.",
    {},
    { cause },
  );
