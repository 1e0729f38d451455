// Social identity: who shows an identity token gets a session, whose address may pass the gate, and whose fid may be an account's.
import { Elysia } from "elysia";
import { plugin } from "../../src/plugin.ts";
import { auth } from "../auth/index.ts";
import { gating } from "../gating/index.ts";
import { createSocialAccounts } from "./accounts.ts";
import { gatingRoutes } from "./gating-routes.ts";
import { createIdentityTokens } from "./identity-tokens.ts";
import { createIssuerKeys } from "./keys.ts";
import { socialRoutes } from "./routes.ts";
import { createSocialSessions } from "./sessions.ts";
import { settingsRoutes } from "./settings-routes.ts";

const DAY = 86_400_000;

export const social = plugin("social", (host) => {
  const { kernel } = host;
  const { config, database, log, jobs } = kernel;
  const { identities, mails, onTakeover, onGuest } = host.use(auth);
  const gate = host.use(gating);
  const tokens = createIdentityTokens(config, createIssuerKeys({ issuer: config.social.issuer, log }));
  const sessions = createSocialSessions(kernel);
  const accounts = createSocialAccounts(database);

  onTakeover((userId) => [accounts.unlink(userId)]);
  onGuest(async (token) => {
    const session = await sessions.find(token);
    const userId = session && (await accounts.ownerOf(session.fid));
    return session && userId ? { userId, expiresAt: session.expiresAt } : undefined;
  });
  jobs.every("social.sweep", DAY, async () => [sessions.sweep()]);

  return {
    service: undefined,
    web: new Elysia({ name: "social.web" })
      .use(socialRoutes({ config, gate, identities: tokens, sessions }))
      .use(gatingRoutes({ gate, identities, sessions }))
      .use(settingsRoutes({ database, guards: identities.guards, tokens, accounts, mails })),
  };
});
