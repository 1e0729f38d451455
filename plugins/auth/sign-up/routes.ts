// The routes that create an account: sign-up, and the first admin account.

import { Elysia } from "elysia";
import { forwardingOf } from "../../../src/kernel/cells/forwarding.ts";
import { documentErrors } from "../../../src/kernel/http/openapi/route-documentation.ts";
import { preferredLanguage } from "../../../src/kernel/pages/language.ts";
import { type AuthServices, tags } from "../auth-services.ts";
import { requireEmail } from "../email.ts";
import { accountSummary, firstAdminBody, signInResponse, signUpBody } from "../model.ts";
import { requirePassword } from "../password/passwords.ts";
import { signInSettings } from "../settings.ts";
import { createBotDetection } from "../visitors/bot-detection.ts";
import { visitorGuards } from "../visitors/visitor-guards.ts";
import { createReferrals } from "./referrals.ts";
import { createSignUp } from "./sign-up.ts";

const accountErrors = { 400: ["INVALID_EMAIL", "INVALID_PASSWORD", "PASSWORD_TOO_COMMON"] };

export function signUpRoutes(services: AuthServices) {
  const { kernel, passwords, firstAdmin, startSession } = services;
  const { config, idempotency } = kernel;
  const signUp = createSignUp({ ...services, referrals: createReferrals(services) });

  return new Elysia({ name: "auth.sign-up" })
    .use(visitorGuards({ botDetection: createBotDetection(config.of(signInSettings)), kernel }))
    .post(
      "/api/register",
      ({ body, request }) =>
        idempotency.respond({ request }, async (keep) => {
          const locale = preferredLanguage(request.headers.get("accept-language"));
          const created = await signUp({ ...body, locale, forwarding: forwardingOf(request) }, (created) =>
            keep({ status: 201, body: JSON.stringify(created) }),
          );
          return Response.json(created, { status: 201 });
        }),
      {
        human: "sign-up",
        body: signUpBody,
        response: { 201: accountSummary },
        detail: {
          tags,
          summary: "Sign up",
          operationId: "signUp",
          description:
            "Creates an account, but no session, and mails a link to verify the address. A referral code credits " +
            "both accounts. With `SIGN_UP=invite` it needs an `invitation`; with `SIGN_UP=closed` it is refused; with `SIGN_UP=domains:…` it needs an address of one of them, which has to be verified before the first sign-in.",
          ...documentErrors({
            400: [...accountErrors[400], "INVALID_REFERRAL_CODE"],
            403: "SIGN_UP_CLOSED",
            409: ["USER_EXISTS", "IDEMPOTENCY_MISMATCH", "IDEMPOTENCY_IN_PROGRESS"],
          }),
        },
      },
    )
    .post(
      "/api/auth/first-admin",
      async ({ body, request, status }) => {
        const email = requireEmail(body.email);
        await requirePassword(body.password, { email });
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
        response: { 201: signInResponse },
        detail: {
          tags,
          summary: "Create the first admin account with the link that Berth prints at start",
          description:
            "While there is no account, each start prints a link with a token. The token works once; the account that it makes is an admin. " +
            "Any sign-up ends the link. Then the operator makes an account an admin with `berth user admin EMAIL`, on the machine of the service.",
          operationId: "createFirstAdmin",
          ...documentErrors({ 400: [...accountErrors[400], "INVALID_LINK"], 409: "USER_EXISTS" }),
        },
      },
    );
}
