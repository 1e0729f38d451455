// Accounts: who may come in, how they show who they are, and what they may change of themselves.
import { Elysia } from "elysia";
import { contextOf, isDirect, openRoutes } from "../../src/http.ts";
import { plugin } from "../../src/plugin.ts";
import { createAdministration } from "./administration/administration.ts";
import { createHolders } from "./holders.ts";
import { createIdentities } from "./identity.ts";
import { createKeys } from "./keys/keys.ts";
import { keysRoutes } from "./keys/routes.ts";
import { createLinkedAccounts } from "./linked-accounts.ts";
import { createLinks } from "./links.ts";
import { createMails } from "./mails/mails.ts";
import { oauthRoutes } from "./oauth/routes.ts";
import { pageRoutes } from "./pages/pages.ts";
import type { AuthParts } from "./parts.ts";
import { createPasswords } from "./password/passwords.ts";
import { passwordResetRoutes } from "./password/routes.ts";
import { createTakeover } from "./password/takeover.ts";
import { createSessions } from "./sessions.ts";
import { createDeletion } from "./settings/deletion.ts";
import { settingsRoutes } from "./settings/routes.ts";
import { sessionsRoutes } from "./settings/sessions-routes.ts";
import { createConfirm } from "./sign-in/confirm.ts";
import { createGuests } from "./sign-in/guests.ts";
import { signInRoutes } from "./sign-in/routes.ts";
import { createSignIn } from "./sign-in/sign-in.ts";
import { sweepUsedOnce } from "./sign-in/used-once.ts";
import { emailVerificationRoutes } from "./sign-up/email-verification-routes.ts";
import { createFirstAdmin } from "./sign-up/first-admin.ts";
import { signUpRoutes } from "./sign-up/routes.ts";
import { twoFactorRoutes } from "./two-factor/routes.ts";
import { createTwoFactor } from "./two-factor/two-factor.ts";
import { createUsers } from "./users.ts";
import { walletRoutes } from "./wallet/routes.ts";

export type { AccountChange, Recorder } from "./administration/account-changes.ts";
export { ACCOUNT_STATES, type AccountFilter, type Administration } from "./administration/administration.ts";
export { isHolder } from "./holders.ts";
export { bearerOf, type Caller, type Identities, type Identity, type OwnSession, requireScope } from "./identity.ts";
export type { Scope } from "./keys/keys.ts";
export { page as accountPage } from "./pages/pages.ts";
export type { OnTakeover } from "./password/takeover.ts";
export type { BeforeDeletion } from "./settings/deletion.ts";
export { type LetIn, orSignedOut, standing } from "./standing.ts";
export { isActive, PLANS, type Plan, type User } from "./users.ts";
export { isSignedBy } from "./wallet/signature.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

export const auth = plugin("auth", ({ kernel }) => {
  const users = createUsers(kernel);
  const sessions = createSessions(kernel);
  const keys = createKeys(kernel);
  const passwords = createPasswords();
  const links = createLinks(kernel.database);
  const linked = createLinkedAccounts(kernel.database);
  const twoFactor = createTwoFactor({ ...kernel, users });
  const signIn = createSignIn({ users, passwords, twoFactor, limits: kernel.limits });
  const firstAdmin = createFirstAdmin({ ...kernel, users, links });
  const identities = createIdentities({ ...kernel, users, sessions, keys, tokens: kernel.backend.tokens });
  const parts: AuthParts = {
    kernel,
    users,
    sessions,
    passwords,
    identities,
    signIn,
    keys,
    twoFactor,
    takeover: createTakeover({ sessions, keys, linked, links, twoFactor }),
    links,
    mails: createMails(kernel),
    linked,
    confirm: createConfirm(signIn),
    firstAdmin,
    guests: createGuests({ users, limits: kernel.limits }),
    async startSession(request, userId, grounds) {
      const { address, cookies } = contextOf(request);
      const userAgent = request.headers.get("user-agent")?.slice(0, 300) ?? "";
      const from = { direct: isDirect(request), address, userAgent };
      cookies.push((await sessions.start(userId, from, grounds)).cookie);
    },
  };

  const deletion = createDeletion({ ...kernel, ...parts });
  kernel.jobs.every("auth.sweep", DAY, async () => [sessions.sweep(), links.sweep()]);
  // Anybody who sets out to sign in adds to it.
  kernel.jobs.every("auth.sweep-used", HOUR, async () => [sweepUsedOnce()]);

  const web = new Elysia({ name: "auth.web" })
    .use(openRoutes)
    .use(signUpRoutes(parts))
    .use(emailVerificationRoutes(parts))
    .use(passwordResetRoutes(parts))
    .use(signInRoutes(parts))
    .use(oauthRoutes(parts))
    .use(settingsRoutes(parts, deletion))
    .use(sessionsRoutes(parts))
    .use(keysRoutes(parts))
    .use(twoFactorRoutes(parts))
    .use(walletRoutes(parts))
    .use(pageRoutes(kernel));

  return {
    web,
    stop: keys.close,
    service: {
      administration: createAdministration({ ...parts, deletion }),
      users,
      holders: createHolders(users),
      mails: parts.mails,
      identities,
      onSessionRevoked: sessions.onRevoked,
      aliveSessions: sessions.alive,
      /** The wallets a user has signed in with. */
      wallets: parts.linked.wallets,
      beforeDeletion: deletion.before,
      onTakeover: parts.takeover.on,
      onGuest: parts.guests.on,
      firstAdminLink: firstAdmin.link,
      onFirstAdmin: firstAdmin.on,
    },
  };
});
