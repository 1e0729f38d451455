// What every theme of accounts is built from, made once in index.ts.
import type { Kernel } from "../../src/plugin.ts";
import type { Identities } from "./identity.ts";
import type { Keys } from "./keys/keys.ts";
import type { LinkedAccounts } from "./linked-accounts.ts";
import type { Links } from "./links.ts";
import type { Mails } from "./mails/mails.ts";
import type { Passwords } from "./password/passwords.ts";
import type { Takeover } from "./password/takeover.ts";
import type { Grounds, Sessions } from "./sessions.ts";
import type { Confirm } from "./sign-in/confirm.ts";
import type { Guests } from "./sign-in/guests.ts";
import type { SignIn } from "./sign-in/sign-in.ts";
import type { FirstAdmin } from "./sign-up/first-admin.ts";
import type { TwoFactor } from "./two-factor/two-factor.ts";
import type { Users } from "./users.ts";

export interface AuthParts {
  readonly kernel: Kernel;
  readonly users: Users;
  readonly sessions: Sessions;
  readonly passwords: Passwords;
  readonly identities: Identities;
  readonly signIn: SignIn;
  readonly keys: Keys;
  readonly twoFactor: TwoFactor;
  readonly takeover: Takeover;
  readonly links: Links;
  readonly mails: Mails;
  readonly linked: LinkedAccounts;
  readonly confirm: Confirm;
  readonly firstAdmin: FirstAdmin;
  readonly guests: Guests;
  /**
   * Starts a session on this request's answer, while what let somebody in still holds: see `Sessions`. Whatever cookie came
   * along is never adopted.
   */
  startSession(request: Request, userId: string, grounds: Grounds): Promise<void>;
}

/** The tag of all their routes. */
export const tags = ["Accounts"];
