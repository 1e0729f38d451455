// Decides by SIGN_UP whether a new account may come into being: for anyone, with an invitation, with an address of some domains,
// or not at all.
import type { Statement } from "../../../src/kernel/database/database.ts";
import { AppError, forbidden } from "../../../src/kernel/errors.ts";
import type { Kernel } from "../../../src/kernel/plugin.ts";
import { DAY } from "../../../src/kernel/util/time.ts";
import { requireEmail } from "../email.ts";
import type { OneTimeLinks } from "../one-time-links.ts";
import { signUpSettings } from "../settings.ts";

const INVITATION_LIFETIME_MS = 7 * DAY;

/** What a person brings to a new account. */
export interface Admission {
  /** The token of an invitation's link. */
  invitation?: string | undefined;
  /** The address is proven, so that an invitation to it needs no token. */
  isEmailProven?: boolean;
}

export interface Invitation {
  email: string;
  link: string;
  /** Epoch ms. */
  expiresAt: number;
}

export interface SignUpPolicy {
  /**
   * Resolves with the statements that use an invitation up, for the batch that creates the account; they abort it with
   * GuardFailed `link` if it was used meanwhile. Throws 403 `SIGN_UP_CLOSED` if there may be no account for this address.
   * With `domains`, an address that is not proven yet is admitted, too; its account can't be entered before it is (see `withPassword`).
   * Accounts that an admin creates, and the first admin's, are not asked about.
   */
  admit(email: string, admission: Admission): Promise<Statement[]>;
  /**
   * An invitation for this address, which replaces an earlier one, and the statements that store it. Throws 400
   * `INVALID_EMAIL`, and 409 `SIGN_UP_CLOSED` if invitations admit nobody.
   */
  invite(email: string): { invitation: Invitation; statements: Statement[] };
}

type Deps = Pick<Kernel, "config"> & { oneTimeLinks: OneTimeLinks };

export function createSignUpPolicy({ config, oneTimeLinks }: Deps): SignUpPolicy {
  const { mode, domains } = config.of(signUpSettings);
  /** Whether the address is of one of the domains themselves: those below them may belong to others. */
  const isOfDomain = (email: string) => domains.includes(email.slice(email.lastIndexOf("@") + 1).toLowerCase());

  return {
    async admit(email, { invitation, isEmailProven = false }) {
      if (mode === "open") return [];
      if (mode === "closed") throw signUpClosed("This service takes no new accounts. Ask its operator for one.");
      if (mode === "domains" && isOfDomain(email)) return [];
      if (isEmailProven) {
        const statements = oneTimeLinks.useByEmailStatements("invitation", email);
        if (await oneTimeLinks.existsForEmail("invitation", email)) return statements;
      }
      if (!invitation)
        throw signUpClosed(
          mode === "domains"
            ? "This service takes new accounts only for addresses of some domains. Sign up with your address there, or ask its operator for an invitation."
            : "This service takes new accounts by invitation. Ask its operator for one.",
        );
      const found = await oneTimeLinks.find("invitation", invitation);
      if (found?.email !== email) throw invitationUsed();
      return oneTimeLinks.useStatements("invitation", invitation);
    },

    invite(text) {
      const email = requireEmail(text);
      if (mode === "closed") {
        const message = "SIGN_UP is closed: nobody can use an invitation. Create the account, or set SIGN_UP=invite.";
        throw new AppError(409, "SIGN_UP_CLOSED", message);
      }
      const { token, statements } = oneTimeLinks.issue("invitation", { email, lifetimeMs: INVITATION_LIFETIME_MS });
      const link = `${config.baseUrl}/register?invitation=${token}&email=${encodeURIComponent(email)}`;
      return { invitation: { email, link, expiresAt: Date.now() + INVITATION_LIFETIME_MS }, statements };
    },
  };
}

const signUpClosed = (message: string) => forbidden("SIGN_UP_CLOSED", message);

/** The invitation is not, or no longer, valid for this address. */
export const invitationUsed = () =>
  signUpClosed("This invitation was used, is too old, or is for another address. Ask for a new one.");
