// The second step of a provider sign-in with two-factor on: a sealed cookie holds the identity until the code arrives.
// Only then does a session start.
import { requireHere } from "../../../src/kernel/cells/cells.ts";
import { cellOfId } from "../../../src/kernel/cells/marks.ts";
import { GuardFailed, isUniqueViolation } from "../../../src/kernel/database/database.ts";
import { AppError } from "../../../src/kernel/errors.ts";
import { MINUTE } from "../../../src/kernel/util/time.ts";
import type { AuthServices } from "../auth-services.ts";
import type { SignInEvidence } from "../sessions.ts";
import { createSealedCookie } from "../sign-in/sealed-cookie.ts";
import { isTotpRequired } from "../two-factor/two-factor.ts";
import type { User } from "../users.ts";
import type { AdminGroups, SignInRequest } from "./admin-groups.ts";
import type { ProviderIdentity } from "./provider.ts";
import type { ProviderAccounts } from "./provider-accounts.ts";

/** How long the user may take to enter the code. */
const LIFETIME_MS = 10 * MINUTE;

/** A sign-in that the provider has confirmed and that lacks the code. */
export interface PendingSignIn {
  userId: string;
  identity: Pick<ProviderIdentity, "provider" | "subject" | "label" | "adminGroups">;
  /** The identity is not linked yet: a correct code links it. */
  mustLink: boolean;
  /** A path within Berth. */
  callbackUrl: string;
}

interface SealedPendingSignIn extends PendingSignIn {
  /** A hash of the account's security settings when the provider confirmed the sign-in. */
  accountState: string;
}

export interface SecondStep {
  /** The `set-cookie` value that lets this browser send the code. */
  begin(pending: PendingSignIn): Promise<string>;
  /**
   * Checks the code and returns the user with the evidence for a session. Works once, within ten minutes, and only
   * while password, address, second factor and disabled state of the account are unchanged: else 401 `SIGN_IN_OVER`.
   * For a missing or wrong code see `TwoFactor.verifyIfEnabled`; wrong codes also count against the client's address.
   */
  finish(
    cookies: string | null,
    totp: unknown,
    request: SignInRequest,
  ): Promise<{ user: User; evidence: SignInEvidence; callbackUrl: string }>;
  /** The `set-cookie` value that deletes the cookie in the browser. */
  readonly clearCookie: string;
}

type Deps = Pick<AuthServices, "kernel" | "users" | "linkedAccounts" | "twoFactor"> & {
  accounts: Pick<ProviderAccounts, "linkStatements">;
  adminGroups: Pick<AdminGroups, "record">;
};

export function createSecondStep({
  kernel,
  users,
  linkedAccounts,
  twoFactor,
  accounts,
  adminGroups,
}: Deps): SecondStep {
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

  /** The account, if its security settings are unchanged and the identity is linked to it, or still to be linked. */
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

    async finish(cookies, totp, request) {
      const { address: from } = request;
      const pending = cookie.find(cookies);
      if (pending) requireHere(kernel.cells, cellOfId(pending.userId));
      const user = pending && (await findAccount(pending));
      if (!user) throw signInExpired();
      // Counted before the check and refunded after it: else concurrent guesses would all pass the limit.
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
      await adminGroups.record(identity, user.id, request);
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
    "This sign-in has expired, or was started in another browser. Sign in again.",
    {},
    { cause },
  );
