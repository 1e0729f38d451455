// The routes of email verification: verify with the token of the mailed link, and request another link.
import { Elysia, t } from "elysia";
import { requireTokenHere } from "../../../src/kernel/cells/cells.ts";
import { AppError } from "../../../src/kernel/errors.ts";
import { documentErrors } from "../../../src/kernel/http/openapi/route-documentation.ts";
import { contextOf } from "../../../src/kernel/http/request-context.ts";
import { openRoutes } from "../../../src/kernel/http/route-guards.ts";
import { type AuthServices, tags } from "../auth-services.ts";
import { isInternalEmail } from "../email.ts";
import { messageResponse, verifyEmailBody } from "../model.ts";

export function emailVerificationRoutes({ kernel, identities, verification }: AuthServices) {
  const { database, limits, cells } = kernel;

  return new Elysia({ name: "auth.email-verification" })
    .use(openRoutes)
    .use(identities.guards)
    .post(
      "/api/auth/verify-email",
      async ({ body, request }) => {
        await requireTokenHere(cells, body.token);
        const session = (await identities.identify(request))?.session;
        return { ok: true as const, ...(await verification.verify(body.token, session?.userId)) };
      },
      {
        open: true,
        body: verifyEmailBody,
        response: { 200: t.Object({ ok: t.Literal(true), email: t.String() }) },
        detail: {
          tags,
          summary: "Verify an email address",
          operationId: "verifyEmail",
          description:
            "Needs no session, except for an address in `ADMIN_EMAILS` and for an account with a linked wallet or " +
            "provider, API keys or two-factor: these need a session of that account.",
          ...documentErrors({ 400: "INVALID_LINK", 403: "SIGN_IN_FIRST" }),
        },
      },
    )
    .post(
      "/api/auth/verify-email/resend",
      async ({ identity: { user }, request }) => {
        if (user.emailVerified) return { message: "Your email address is already verified." };
        if (isInternalEmail(user.email)) {
          const text = "Your account has no email address yet. Give one in your settings first.";
          throw new AppError(400, "NO_EMAIL_ADDRESS", text);
        }
        await limits.takeOrThrow("forgot-password", contextOf(request).address);
        await limits.takeOrThrow("forgot-password", `verification ${user.id}`);
        await database.write(verification.sendLinkStatements(user));
        return { message: "A new link is on its way. Older links no longer work." };
      },
      {
        ownSession: true,
        response: { 200: messageResponse },
        detail: {
          tags,
          summary: "Request a new verification link",
          description:
            "Mails another link to the address of the account; older links no longer work. A verified address gets no mail, and the answer says so.",
          operationId: "resendVerificationLink",
          ...documentErrors({ 400: "NO_EMAIL_ADDRESS" }),
        },
      },
    );
}
