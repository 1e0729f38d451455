// The services that the folders of this plugin share; index.ts creates them once.
import type { Kernel } from "../../src/kernel/plugin.ts";
import type { AccountReclaim } from "./account-reclaim.ts";
import type { AccountAudit } from "./administration/account-audit.ts";
import type { ApiKeys } from "./api-keys/api-keys.ts";
import type { Identities } from "./identities.ts";
import type { Mails } from "./mails/mails.ts";
import type { LinkedAccounts } from "./oauth/linked-accounts.ts";
import type { OneTimeLinks } from "./one-time-links.ts";
import type { Passwords } from "./password/passwords.ts";
import type { Sessions, SignInEvidence } from "./sessions.ts";
import type { ExternalTokens } from "./sign-in/external-tokens.ts";
import type { Reauthenticate } from "./sign-in/reauthentication.ts";
import type { SignIn } from "./sign-in/sign-in.ts";
import type { EmailVerification } from "./sign-up/email-verification.ts";
import type { FirstAdmin } from "./sign-up/first-admin.ts";
import type { SignUpPolicy } from "./sign-up/sign-up-policy.ts";
import type { TwoFactor } from "./two-factor/two-factor.ts";
import type { Users } from "./users.ts";

export interface AuthServices {
  readonly kernel: Kernel;
  readonly auditStatement: AccountAudit;
  readonly users: Users;
  readonly sessions: Sessions;
  readonly passwords: Passwords;
  readonly identities: Identities;
  readonly signIn: SignIn;
  readonly keys: ApiKeys;
  readonly twoFactor: TwoFactor;
  readonly accountReclaim: AccountReclaim;
  readonly oneTimeLinks: OneTimeLinks;
  readonly mails: Mails;
  readonly linkedAccounts: LinkedAccounts;
  readonly reauthenticate: Reauthenticate;
  readonly verification: EmailVerification;
  readonly firstAdmin: FirstAdmin;
  readonly signUpPolicy: SignUpPolicy;
  readonly externalTokens: ExternalTokens;
  /**
   * Starts a session and sets its cookie on the response, if the evidence is still valid (see `Sessions.start`). A
   * session cookie sent with the request is never adopted, which prevents session fixation.
   */
  startSession(request: Request, userId: string, evidence: SignInEvidence): Promise<void>;
}

/** The tag of all routes of this plugin in the API description. */
export const tags = ["Accounts"];
