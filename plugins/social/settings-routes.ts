// The fid of an account: linked by showing an identity token, so that its social session tells whose account it is.
import { Elysia } from "elysia";
import type { Database } from "../../src/database.ts";
import { mayAnswer } from "../../src/openapi/told.ts";
import type { ServiceOf } from "../../src/plugin.ts";
import type { auth, Identities } from "../auth/index.ts";
import type { SocialAccounts } from "./accounts.ts";
import type { IdentityTokens } from "./identity-tokens.ts";
import * as model from "./model.ts";

const tags = ["Accounts"];
const PATH = "/api/settings/social";

interface Deps {
  database: Pick<Database, "write">;
  guards: Identities["guards"];
  tokens: IdentityTokens;
  accounts: SocialAccounts;
  mails: Pick<ServiceOf<typeof auth>["mails"], "socialLinked">;
}

export function settingsRoutes({ database, guards, tokens, accounts, mails }: Deps) {
  return new Elysia({ name: "social.settings" })
    .use(guards)
    .get(
      PATH,
      async ({ identity: { user } }) => {
        const found = await accounts.of(user.id);
        return found ? { fid: found.fid, linkedAt: iso(found.linkedAt) } : { fid: null, linkedAt: null };
      },
      {
        signedIn: "read",
        response: { 200: model.link },
        detail: { tags, summary: "The social identity of the account" },
      },
    )
    .post(
      PATH,
      async ({ identity: { user }, body: { fidToken } }) => {
        const shown = await tokens.fidOf(fidToken);
        const isNew = (await accounts.of(user.id))?.fid !== shown;
        const { fid, linkedAt } = await accounts.link(shown, user.id, isNew ? mails.socialLinked(user, shown) : []);
        return { success: true as const, fid, linkedAt: iso(linkedAt), message: "This identity is yours here too." };
      },
      {
        ownSession: true,
        body: model.linkBody,
        response: { 200: model.linked },
        detail: {
          tags,
          summary: "Link a social identity to the account",
          description:
            "In place of the one that is linked. `GET /api/auth/session` then says with this identity's session token as the " +
            "bearer whose account it is; nothing else of the account is open to that token.",
          ...mayAnswer({ 401: "INVALID_TOKEN", 409: "SOCIAL_IN_USE", 500: "ISSUER_UNAVAILABLE" }),
        },
      },
    )
    .delete(
      PATH,
      async ({ identity: { user } }) => {
        await database.write([accounts.unlink(user.id)]);
        return { success: true as const, message: "No social identity is linked to your account." };
      },
      {
        ownSession: true,
        response: { 200: model.unlinked },
        detail: { tags, summary: "Take the social identity off the account" },
      },
    );
}

const iso = (time: number) => new Date(time).toISOString();
