// The routes of sign-in with a password, of the current session, and of sign-out.
import { Elysia, t } from "elysia";
import { documentErrors } from "../../../src/kernel/http/openapi/route-documentation.ts";
import { contextOf } from "../../../src/kernel/http/request-context.ts";
import { openRoutes } from "../../../src/kernel/http/route-guards.ts";
import { type AuthServices, tags } from "../auth-services.ts";
import { currentSession, signInBody, signInResponse } from "../model.ts";

export function signInRoutes({ kernel, identities, sessions, signIn, startSession, externalTokens }: AuthServices) {
  return new Elysia({ name: "auth.sign-in" })
    .use(openRoutes)
    .post(
      "/api/auth/callback/credentials",
      async ({ body, request }) => {
        const { user, evidence } = await signIn.withPassword(body, contextOf(request).address);
        await startSession(request, user.id, evidence);
        return { ok: true as const, user: { id: user.id, email: user.email, name: user.name } };
      },
      {
        open: true,
        body: signInBody,
        response: { 200: signInResponse },
        detail: {
          tags,
          summary: "Sign in",
          operationId: "signIn",
          description:
            "With two-factor on, the correct password alone gives 401 `TOTP_REQUIRED`: send it again with `totp`, a " +
            "code of the authenticator app or a recovery code. Each code works for one sign-in.",
          ...documentErrors({
            401: ["BAD_CREDENTIALS", "TOTP_REQUIRED", "INVALID_TOTP"],
            403: ["ACCOUNT_DISABLED", "EMAIL_NOT_VERIFIED"],
          }),
        },
      },
    )
    .get(
      "/api/auth/session",
      async ({ request }) => {
        const identity = await identities.identify(request);
        const found = identity?.session
          ? { user: identity.user, expiresAt: identity.session.expiresAt }
          : await externalTokens.resolve(request);
        if (!found) return { user: null, expires: null };
        const { id, email, name } = found.user;
        return { user: { id, email, name }, expires: new Date(found.expiresAt).toISOString() };
      },
      {
        open: true,
        response: { 200: currentSession },
        detail: {
          tags,
          summary: "The current session, if any",
          operationId: "getSession",
          description:
            "An API key is not a session: with one, `user` is null; `GET /api/settings` shows its account. The " +
            "session token of a social identity that is linked to an account is accepted as bearer token here, and " +
            "on no other account route.",
        },
      },
    )
    .post(
      "/api/auth/signout",
      async ({ request }) => {
        const identity = await identities.identify(request);
        if (identity?.session) {
          await kernel.database.write([sessions.revokeStatement(identity.user.id, identity.session.id)]);
        }
        const { cookies } = contextOf(request);
        cookies.length = 0;
        cookies.push(sessions.clearCookie());
        return { ok: true };
      },
      {
        open: true,
        response: { 200: t.Object({ ok: t.Boolean() }) },
        detail: {
          tags,
          summary: "Sign out",
          description: "Ends the session of the cookie, and deletes the cookie. It succeeds without a session, too.",
          operationId: "signOut",
        },
      },
    );
}
