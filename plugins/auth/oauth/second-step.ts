// The code that is asked for after a provider's sign-in: until it comes there is no session, only a sealed cookie that says who came.
import { GuardFailed, isUniqueViolation } from "../../../src/database.ts";
import { AppError } from "../../../src/errors.ts";
import type { AuthParts } from "../parts.ts";
import type { Grounds } from "../sessions.ts";
import { createSealedCookie } from "../sign-in/sealed-cookie.ts";
import { isTotpRequired } from "../two-factor/two-factor.ts";
import type { User } from "../users.ts";
import type { Accounts } from "./accounts.ts";
import type { ProviderIdentity } from "./provider.ts";

/** How long somebody may look for their authenticator app. */
const LIFETIME = 10 * 60_000;

/** Somebody for whom the provider has vouched. */
export interface Came {
  userId: string;
  identity: Pick<ProviderIdentity, "provider" | "subject">;
  /** The provider's account is not linked yet: the code makes it so. */
  toLink: boolean;
  /** A path of our own. */
  callbackUrl: string;
}

interface Waiting extends Came {
  /** What the account's security was when the provider vouched. */
  state: string;
}

export interface SecondStep {
  /** The `set-cookie` with which this browser may bring the code. */
  begin(came: Came): Promise<string>;
  /**
   * Whose code this is, and what a session for them rests on. Good once, for ten minutes, and only while the account's password, address, second factor and
   * block are what they were: else 401 `SIGN_IN_OVER`. See `TwoFactor.admit` for what a code that is missing or wrong
   * is; wrong ones are also counted by the address they come from.
   */
  finish(
    cookies: string | null,
    totp: unknown,
    from: string,
  ): Promise<{ user: User; grounds: Grounds; callbackUrl: string }>;
  /** Empties the cookie in the browser. */
  readonly endCookie: string;
}

type Deps = Pick<AuthParts, "kernel" | "users" | "linked" | "twoFactor"> & { accounts: Pick<Accounts, "linking"> };

export function createSecondStep({ kernel, users, linked, twoFactor, accounts }: Deps): SecondStep {
  const { limits } = kernel;
  const cookie = createSealedCookie<Waiting>(kernel, {
    name: "berth_two_factor",
    path: "/api/auth/two-factor",
    lifetimeMs: LIFETIME,
    purpose: "second-step",
  });

  async function stateOf({ id, passwordHash, email, emailVerified, disabledAt }: User): Promise<string> {
    const state = [passwordHash, email, emailVerified, disabledAt, await twoFactor.since(id)];
    return new Bun.CryptoHasher("sha256").update(JSON.stringify(state)).digest("base64url");
  }

  /** The account, as long as it is what it was, and linked to who came or still to be. */
  async function accountOf({ userId, state, identity, toLink }: Waiting): Promise<User | undefined> {
    const user = await users.byId(userId);
    if (!user || (await stateOf(user)) !== state) return undefined;
    return (await linked.find(identity)) === (toLink ? undefined : userId) ? user : undefined;
  }

  return {
    async begin(came) {
      const user = await users.byId(came.userId);
      if (!user) throw over();
      return cookie.keep({ ...came, state: await stateOf(user) });
    },

    async finish(cookies, totp, from) {
      const waiting = cookie.find(cookies);
      const user = waiting && (await accountOf(waiting));
      if (!user) throw over();
      // Taken before and given back, or a crowd of guesses at once would all pass.
      await limits.require("sign-in-ip", from);
      try {
        const linking = waiting.toLink ? accounts.linking(user, waiting.identity) : [];
        await twoFactor.admit(user.id, { code: totp, from }, [...cookie.use(waiting), ...linking]);
      } catch (error) {
        if (isTotpRequired(error)) limits.refund("sign-in-ip", from);
        if (error instanceof GuardFailed || isUniqueViolation(error, "linked_accounts.provider")) throw over(error);
        throw error;
      }
      limits.refund("sign-in-ip", from);
      const { callbackUrl, identity } = waiting;
      return { user, grounds: { passwordHash: user.passwordHash, linked: identity, twoFactor: true }, callbackUrl };
    },

    endCookie: cookie.end,
  };
}

const over = (cause?: unknown) =>
  new AppError(
    401,
    "SIGN_IN_OVER",
    "This sign-in is over, or was begun in another browser. Begin again.",
    {},
    { cause },
  );
