// Routes that link a fid to the caller's account, by an identity token. A social session of that fid then identifies
// the account.
import { Elysia } from "elysia";
import type { Database } from "../../src/kernel/database/database.ts";
import { documentErrors } from "../../src/kernel/http/openapi/route-documentation.ts";
import type { ServiceOf } from "../../src/kernel/plugin.ts";
import type { auth, Identities } from "../auth/index.ts";
import type { IdentityTokens } from "./identity-tokens.ts";
import * as model from "./model.ts";
import type { SocialAccounts } from "./social-accounts.ts";

const tags = ["Accounts"];
const PATH = "/api/settings/social";

interface Deps {
  database: Pick<Database, "write">;
  guards: Identities["guards"];
  identityTokens: IdentityTokens;
  socialAccounts: SocialAccounts;
  mails: Pick<ServiceOf<typeof auth>["mails"], "socialLinkedStatements">;
}

export function settingsRoutes({ database, guards, identityTokens, socialAccounts, mails }: Deps) {
  return new Elysia({ name: "social.settings" })
    .use(guards)
    .get(
      PATH,
      async ({ identity: { user } }) => {
        const found = await socialAccounts.find(user.id);
        return found ? { fid: found.fid, linkedAt: iso(found.linkedAt) } : { fid: null, linkedAt: null };
      },
      {
        signedIn: "read",
        response: { 200: model.linkStatus },
        detail: {
          tags,
          summary: "Get the social identity of the account",
          description: "Both fields are null if none is linked.",
          operationId: "getSocialIdentity",
        },
      },
    )
    .post(
      PATH,
      async ({ identity: { user }, body: { fidToken } }) => {
        const tokenFid = await identityTokens.verifyFid(fidToken);
        const isNew = (await socialAccounts.find(user.id))?.fid !== tokenFid;
        const { fid, linkedAt } = await socialAccounts.link(
          tokenFid,
          user.id,
          isNew ? mails.socialLinkedStatements(user, tokenFid) : [],
        );
        return {
          success: true as const,
          fid,
          linkedAt: iso(linkedAt),
          message: "This social identity is linked to your account.",
        };
      },
      {
        ownSession: true,
        body: model.linkBody,
        response: { 200: model.linkResponse },
        detail: {
          tags,
          summary: "Link a social identity to the account",
          operationId: "linkSocialIdentity",
          description:
            "Replaces the identity that is linked. `GET /api/auth/session` with this identity's session token as the bearer " +
            "then returns the account; the token gives no other access to the account.",
          ...documentErrors({ 401: "INVALID_TOKEN", 409: "SOCIAL_IN_USE", 500: "ISSUER_UNAVAILABLE" }),
        },
      },
    )
    .delete(
      PATH,
      async ({ identity: { user } }) => {
        await database.write([socialAccounts.unlinkStatement(user.id)]);
        return { success: true as const, message: "Your account has no linked social identity any more." };
      },
      {
        ownSession: true,
        response: { 200: model.unlinkResponse },
        detail: {
          tags,
          summary: "Unlink the social identity from the account",
          description: "The identity can be linked again.",
          operationId: "unlinkSocialIdentity",
        },
      },
    );
}

const iso = (time: number) => new Date(time).toISOString();
