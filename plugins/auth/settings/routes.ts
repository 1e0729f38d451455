// The routes by which people change their account: settings, password, deletion.
import { Elysia } from "elysia";
import { forbidden, unauthorized } from "../../../src/kernel/errors.ts";
import { documentErrors } from "../../../src/kernel/http/openapi/route-documentation.ts";
import { contextOf } from "../../../src/kernel/http/request-context.ts";
import { type AuthServices, tags } from "../auth-services.ts";
import { normalizeEmail, requireEmail } from "../email.ts";
import type { Identity } from "../identity.ts";
import { currentUser, toCurrentUser } from "../model.ts";
import type { Deletion } from "./account-deletion.ts";
import { deletionBody, passwordBody, preferencesBody, profileBody, successResponse } from "./model.ts";
import { createPasswordChange } from "./password-change.ts";
import { createProfileChange, type ProfileChange } from "./profile-change.ts";

/** A change requires both scopes of an API key, since the response contains all settings. */
const READ_AND_WRITE = ["read", "write"] as const;

export function settingsRoutes(services: AuthServices, deletion: Deletion) {
  const { kernel, identities, sessions, reauthenticate, auditStatement } = services;
  const changeProfile = createProfileChange({ ...kernel, ...services });
  const changePassword = createPasswordChange(services);

  async function change(identity: Identity, requested: ProfileChange) {
    const user = await changeProfile(identity.user.id, requested);
    // Admin rights by ADMIN_EMAILS end with the old address: the new one is unverified.
    const isAdmin = identity.isAdmin && (user.isAdmin || user.email === identity.user.email);
    return toCurrentUser({ ...identity, user, isAdmin });
  }

  /**
   * The address allows a password reset, so a stolen key or session must not be able to change it. Changes are also
   * rate-limited, since each sends a mail to an address of the caller's choice; apart from the requests for a new
   * password, which anyone can make for this account.
   */
  async function requireEmailChangeAllowed(
    identity: Identity,
    email: string,
    currentPassword: string | undefined,
    address: string,
  ) {
    const { session, user } = identity;
    if (!session) throw forbidden("SESSION_REQUIRED", "API keys can't change the email address. Sign in instead.");
    if (normalizeEmail(email) === user.email) return;
    requireEmail(email);
    const options = { field: "currentPassword", allowRecentSignIn: true };
    await reauthenticate({ ...identity, session }, currentPassword, address, options);
    await kernel.limits.takeOrThrow("forgot-password", `new-address ${user.id}`);
  }

  return new Elysia({ name: "auth.settings" })
    .use(identities.guards)
    .post(
      "/api/settings",
      async ({ identity, request, body: { name, email, currentPassword, totp } }) => {
        const { address: from } = contextOf(request);
        if (email !== undefined) await requireEmailChangeAllowed(identity, email, currentPassword, from);
        return change(identity, { name, email, presentedCode: { code: totp, from } });
      },
      {
        signedIn: READ_AND_WRITE,
        body: profileBody,
        response: { 200: currentUser },
        detail: {
          tags,
          summary: "Change the name or the email address",
          operationId: "changeAccount",
          description:
            "A new address is unverified and receives a verification link; the old one receives a notice, and open " +
            "password reset links end. Requires a session younger than ten minutes or `currentPassword`, and with " +
            "two-factor on a `totp`. API keys can't change the address.",
          ...documentErrors({
            400: "INVALID_EMAIL",
            401: ["BAD_CREDENTIALS", "TOTP_REQUIRED", "INVALID_TOTP"],
            403: ["SESSION_REQUIRED", "RECENT_SIGN_IN_REQUIRED"],
            409: "EMAIL_IN_USE",
          }),
        },
      },
    )
    .patch(
      "/api/settings",
      ({ identity, body: { name, notifications } }) => {
        if (!identity.session && notifications && Object.hasOwn(notifications, "security")) {
          const text = "API keys can't change which security mails are sent. Sign in instead.";
          throw forbidden("SESSION_REQUIRED", text);
        }
        return change(identity, { name, notifications });
      },
      {
        signedIn: READ_AND_WRITE,
        body: preferencesBody,
        response: { 200: currentUser },
        detail: {
          tags,
          summary: "Change the name or the notification settings",
          operationId: "updateAccount",
          description: "API keys can't change the setting `security`.",
          ...documentErrors({ 403: "SESSION_REQUIRED" }),
        },
      },
    )
    .post(
      "/api/settings/password",
      async ({ identity, request, body }) => {
        await changePassword(identity, request, body);
        return { success: true as const, message: "Your password is changed. All other sessions are signed out." };
      },
      {
        ownSession: true,
        body: passwordBody,
        response: { 200: successResponse },
        detail: {
          tags,
          summary: "Change the password",
          operationId: "changePassword",
          description:
            "Ends every session; the response sets the cookie of a new one. An account without a password sets its " +
            "first one without `currentPassword`, in a session younger than ten minutes.",
          ...documentErrors({
            400: ["INVALID_PASSWORD", "PASSWORD_TOO_COMMON"],
            401: "BAD_CREDENTIALS",
            403: "RECENT_SIGN_IN_REQUIRED",
          }),
        },
      },
    )
    .delete(
      "/api/settings",
      async ({ identity, request, body: { password } }) => {
        const { address, cookies } = contextOf(request);
        await reauthenticate(identity, password, address);
        const statements = [auditStatement(identity.user, "delete")];
        const isRemoved = await deletion.remove(
          identity.user,
          { by: identity, request },
          { statements, guardErrors: {} },
        );
        if (!isRemoved) throw unauthorized();
        cookies.length = 0;
        cookies.push(sessions.clearCookie());
        return { success: true as const, message: "Your account and everything in it are deleted." };
      },
      {
        ownSession: true,
        body: deletionBody,
        response: { 200: successResponse },
        detail: {
          tags,
          summary: "Delete the account",
          operationId: "deleteAccount",
          description:
            "Stops and removes its agents, ends its sessions and keys, and can't be undone. An account without a " +
            "password needs a session younger than ten minutes. Can be repeated after a failure. What stays: events with the address and name, " +
            "which webhooks of admins read, for 30 days; entries of the audit log for two years; mails that were sent; counts of requests by network " +
            "address until they run out; and backups that the operator has made.",
          ...documentErrors({
            401: "BAD_CREDENTIALS",
            403: "RECENT_SIGN_IN_REQUIRED",
            409: "ACCOUNT_IN_USE",
            502: "BACKEND_UNAVAILABLE",
          }),
        },
      },
    );
}
