// The social plugin exchanges identity tokens for social sessions, checks the address of a session against the token
// gate, and links a fid to an account.

import { plugin } from "../../src/kernel/plugin.ts";
import { DAY } from "../../src/kernel/util/time.ts";
import { auth } from "../auth/index.ts";
import { gating } from "../gating/index.ts";
import { createIdentityTokens } from "./identity-tokens.ts";
import { createIssuerKeys } from "./issuer-keys.ts";
import { socialSettings } from "./settings.ts";
import { createSocialAccounts } from "./social-accounts.ts";
import { createSocialSessions } from "./social-sessions.ts";

export const social = plugin("social", (host) => {
  const { kernel } = host;
  const { config, database, log, jobs } = kernel;
  const settings = config.of(socialSettings);
  const { identities, mails, onAccountReclaim, onExternalToken } = host.use(auth);
  const gate = host.use(gating);
  const identityTokens = createIdentityTokens(settings, createIssuerKeys({ issuer: settings.issuer, log }));
  const sessions = createSocialSessions(kernel);
  const socialAccounts = createSocialAccounts(kernel);

  onAccountReclaim((userId) => [socialAccounts.unlinkStatement(userId)]);
  onExternalToken(async (token) => {
    const session = await sessions.find(token);
    const userId = session && (await socialAccounts.findUserId(session.fid));
    return session && userId ? { userId, expiresAt: session.expiresAt } : undefined;
  });
  jobs.every("social.sweep", DAY, async () => [sessions.sweepStatement()]);

  return {
    service: undefined,
    lateRoutes: {
      web: [
        async () => (await import("./session-routes.ts")).sessionRoutes({ settings, gate, identityTokens, sessions }),
        async () => (await import("./gating-routes.ts")).gatingRoutes({ gate, identities, sessions }),
        async () =>
          (await import("./settings-routes.ts")).settingsRoutes({
            database,
            guards: identities.guards,
            identityTokens,
            socialAccounts,
            mails,
          }),
      ],
    },
  };
});
