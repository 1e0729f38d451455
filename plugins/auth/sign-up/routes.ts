// Making an account: sign-up, and the first admin's.
import { Elysia } from "elysia";
import { mayAnswer } from "../../../src/openapi/told.ts";
import { requireEmail } from "../email.ts";
import { account, firstAdminBody, signedIn, signUpBody } from "../model.ts";
import { type AuthParts, tags } from "../parts.ts";
import { requirePassword } from "../password/passwords.ts";
import { createBots } from "../visitors/bots.ts";
import { preferredLanguage } from "../visitors/language.ts";
import { visitorGuards } from "../visitors/visitors.ts";
import { createEmailVerification } from "./email-verification.ts";
import { createReferrals } from "./referrals.ts";
import { createSignUp } from "./sign-up.ts";

const badAccount = { 400: ["INVALID_EMAIL", "INVALID_PASSWORD"] };

export function signUpRoutes(parts: AuthParts) {
  const { kernel, passwords, firstAdmin, startSession } = parts;
  const { config, idempotency, limits } = kernel;
  const verification = createEmailVerification({ ...kernel, ...parts });
  const signUp = createSignUp({ ...parts, verification, referrals: createReferrals(parts) });

  return new Elysia({ name: "auth.sign-up" })
    .use(visitorGuards({ bots: createBots(config), limits }))
    .post(
      "/api/register",
      ({ body, request }) =>
        idempotency.respond({ request }, async (keep) => {
          const locale = preferredLanguage(request.headers.get("accept-language"));
          const made = await signUp({ ...body, locale }, (made) => keep({ status: 201, body: JSON.stringify(made) }));
          return Response.json(made, { status: 201 });
        }),
      {
        human: "sign-up",
        body: signUpBody,
        response: { 201: account },
        detail: {
          tags,
          summary: "Sign up",
          description:
            "Makes an account, but no session. A link to verify the address is mailed to it. A referral code credits both sides.",
          ...mayAnswer({
            400: [...badAccount[400], "INVALID_REFERRAL_CODE"],
            409: ["USER_EXISTS", "IDEMPOTENCY_MISMATCH", "IDEMPOTENCY_IN_PROGRESS"],
          }),
        },
      },
    )
    .post(
      "/api/auth/first-admin",
      async ({ body, request, status }) => {
        const email = requireEmail(body.email);
        requirePassword(body.password);
        const account = {
          email,
          name: body.name,
          passwordHash: await passwords.hash(body.password),
          locale: preferredLanguage(request.headers.get("accept-language")),
        };
        const user = await firstAdmin.create(body.token, account, request);
        await startSession(request, user.id, { passwordHash: account.passwordHash, twoFactor: false });
        return status(201, { ok: true as const, user });
      },
      {
        visitor: "sign-up",
        body: firstAdminBody,
        response: { 201: signedIn },
        detail: {
          tags,
          summary: "Make the first admin account with the link printed at the start",
          ...mayAnswer({ 400: [...badAccount[400], "INVALID_LINK"], 409: "USER_EXISTS" }),
        },
      },
    );
}
