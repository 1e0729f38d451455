// The route of an account's referral code: who came with it, and what that brought.
import { Elysia, t } from "elysia";
import { type AuthServices, tags } from "../auth-services.ts";
import { countReferred, REFERRAL_CREDITS } from "../sign-up/referrals.ts";

const referral = t.Object({
  code: t.String(),
  url: t.String({ description: "The sign-up page with the code filled in" }),
  joined: t.Number({ description: "How many accounts were made with the code" }),
  creditsPerPerson: t.Number({ description: "For the new account, and for this one" }),
});

export function referralRoutes({ kernel, identities }: AuthServices) {
  const { database, config } = kernel;
  return new Elysia({ name: "auth.referral" }).use(identities.guards).get(
    "/api/settings/referral",
    async ({ identity: { user } }) => ({
      code: user.referralCode,
      url: `${config.baseUrl}/register?ref=${encodeURIComponent(user.referralCode)}`,
      joined: await countReferred(database, user.id),
      creditsPerPerson: REFERRAL_CREDITS,
    }),
    {
      signedIn: "read",
      response: { 200: referral },
      detail: {
        tags,
        summary: "Your referral code, and how many people came with it",
        description:
          "People who sign up with `url` count in `joined`. Each of them, and this account for each, gets `creditsPerPerson` credits.",
        operationId: "getReferral",
      },
    },
  );
}
