// The routes of two-factor: start the setup, turn it on with a first code, turn it off.
import { Elysia, t } from "elysia";
import { documentErrors } from "../../../src/kernel/http/openapi/route-documentation.ts";
import { contextOf } from "../../../src/kernel/http/request-context.ts";
import { type AuthServices, tags } from "../auth-services.ts";

const code = (error: string) => t.String({ minLength: 1, maxLength: 64, error });

const password = t.Optional(
  t.String({ maxLength: 4096, description: "Required if the account has one", error: "Give your current password." }),
);

const enrolment = t.Object({
  secret: t.Union([t.String(), t.Null()], {
    description: "Base32; like the other fields, null if the response is replayed",
  }),
  otpauthUrl: t.Union([t.String(), t.Null()], { description: "For a QR code" }),
  recoveryCodes: t.Union([t.Array(t.String()), t.Null()], { description: "Ten; each works once" }),
});

const twoFactorStatus = t.Object({
  enabled: t.Boolean(),
  since: t.Union([t.String(), t.Null()]),
  recoveryCodesLeft: t.Number(),
});

const twoFactorState = t.Object({ success: t.Literal(true), twoFactorEnabled: t.Boolean() });

const reauthenticationErrors = { 401: "BAD_CREDENTIALS", 403: "RECENT_SIGN_IN_REQUIRED" };

export function twoFactorRoutes({
  kernel,
  identities,
  sessions,
  twoFactor,
  reauthenticate,
  mails,
  auditStatement,
}: AuthServices) {
  return new Elysia({ name: "auth.two-factor" })
    .use(identities.guards)
    .get(
      "/api/settings/2fa",
      async ({ identity: { user } }) => {
        const since = await twoFactor.enabledSince(user.id);
        if (since === undefined) return { enabled: false, since: null, recoveryCodesLeft: 0 };
        const recoveryCodesLeft = await twoFactor.countRecoveryCodes(user.id);
        return { enabled: true, since: new Date(since).toISOString(), recoveryCodesLeft };
      },
      {
        ownSession: true,
        response: { 200: twoFactorStatus },
        detail: {
          tags,
          summary: "Whether two-factor is on, and how many recovery codes are left",
          description: "Recovery codes work once each, in place of a code of the authenticator app.",
          operationId: "getTwoFactor",
        },
      },
    )
    .post(
      "/api/settings/2fa",
      ({ identity, request, body }) =>
        kernel.idempotency.respond(
          { request, userId: identity.user.id },
          async () => {
            await reauthenticate(identity, body.password, contextOf(request).address);
            return Response.json(await twoFactor.beginEnrolment(identity.user));
          },
          { secretFields: ["secret", "otpauthUrl", "recoveryCodes"] },
        ),
      {
        ownSession: true,
        body: t.Object({ password }),
        response: { 200: enrolment },
        detail: {
          tags,
          summary: "Start the two-factor setup",
          operationId: "beginTwoFactorSetup",
          description:
            "Two-factor stays off until `POST /api/settings/2fa/confirm` proves that the app has the secret. " +
            "Starting again replaces the secret. An account without a password needs a session younger than ten " +
            "minutes.",
          ...documentErrors({
            ...reauthenticationErrors,
            409: ["TWO_FACTOR_ON", "IDEMPOTENCY_MISMATCH", "IDEMPOTENCY_IN_PROGRESS"],
          }),
        },
      },
    )
    .post(
      "/api/settings/2fa/confirm",
      async ({ identity: { user, session }, body }) => {
        await twoFactor.confirmEnrolment(user, body.code, [
          sessions.revokeAllStatement(user.id, session.id),
          ...mails.twoFactorChangedStatements(user, true),
          auditStatement(user, "two-factor-on"),
        ]);
        return { success: true as const, twoFactorEnabled: true };
      },
      {
        ownSession: true,
        body: t.Object({ code: code("Give a code of your authenticator app.") }),
        response: { 200: twoFactorState },
        detail: {
          tags,
          summary: "Turn two-factor on",
          operationId: "enableTwoFactor",
          description:
            "From then on every sign-in, by password, wallet, Google or GitHub, requires a code. All other sessions " +
            "are signed out; API keys stay.",
          ...documentErrors({ 400: ["INVALID_CODE", "TWO_FACTOR_NOT_BEGUN"], 409: "TWO_FACTOR_ON" }),
        },
      },
    )
    .delete(
      "/api/settings/2fa",
      async ({ identity, request, body }) => {
        const { address: from } = contextOf(request);
        await reauthenticate(identity, body.password, from);
        await twoFactor.disable(identity.user, { code: body.code, from }, [
          ...mails.twoFactorChangedStatements(identity.user, false),
          auditStatement(identity.user, "two-factor-off"),
        ]);
        return { success: true as const, twoFactorEnabled: false };
      },
      {
        ownSession: true,
        body: t.Object({ password, code: code("Give a code of your authenticator app, or a recovery code.") }),
        response: { 200: twoFactorState },
        detail: {
          tags,
          summary: "Turn two-factor off",
          operationId: "disableTwoFactor",
          description:
            "Takes a code of the app or a recovery code. An account without a password needs a session younger than " +
            "ten minutes.",
          ...documentErrors({ ...reauthenticationErrors, 400: ["INVALID_CODE", "TWO_FACTOR_OFF"] }),
        },
      },
    );
}
