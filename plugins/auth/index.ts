// Accounts: sign-up, sign-in, the session, and who is asking.
import { Elysia, t } from "elysia";
import { AppError } from "../../src/errors.ts";
import { contextOf, isDirect, openRoutes } from "../../src/http.ts";
import { mayAnswer } from "../../src/openapi/told.ts";
import { plugin } from "../../src/plugin.ts";
import { normalizeEmail, requireEmail } from "./email.ts";
import { createFirstAdmin } from "./first-admin.ts";
import { createIdentities } from "./identity.ts";
import {
  account,
  currentSession,
  currentUser,
  firstAdminBody,
  signedIn,
  signInBody,
  signUpBody,
  toCurrentUser,
} from "./model.ts";
import { createPasswords, requirePassword } from "./passwords.ts";
import { createSessions } from "./sessions.ts";
import setupPage from "./setup-page.htm" with { type: "text" };
import { createSignIn } from "./sign-in.ts";
import { type Account, createUsers } from "./users.ts";

export type { Caller, Identity, Scope } from "./identity.ts";
export { isActive, PLANS, type Plan, type User } from "./users.ts";

const DAY = 86_400_000;

export const auth = plugin("auth", ({ kernel }) => {
  const { idempotency, limits } = kernel;
  const users = createUsers(kernel);
  const sessions = createSessions(kernel);
  const passwords = createPasswords();
  const firstAdmin = createFirstAdmin(kernel, users);
  const identities = createIdentities({ ...kernel, users, sessions, tokens: kernel.backend.tokens });
  const signIn = createSignIn({ users, passwords, limits });

  function hashOf(password: string): Promise<string> {
    requirePassword(password);
    return passwords.hash(password);
  }

  /** Starts a session on this answer. Whatever cookie came along is never adopted. */
  async function startSession(request: Request, userId: string): Promise<void> {
    const context = contextOf(request);
    context.cookies.push((await sessions.start(userId, isDirect(request))).cookie);
  }

  kernel.jobs.every("auth.expired-sessions", DAY, async () => [sessions.sweep()]);

  const tags = ["Accounts"];
  const web = new Elysia({ name: "auth.web" })
    .use(openRoutes)
    .use(identities.guards)

    .post(
      "/api/register",
      ({ body: { email, password, name }, request }) =>
        idempotency.respond({ request }, async (keep) => {
          await limits.require("sign-up", contextOf(request).address);
          const account = { email: requireEmail(email), name, passwordHash: await hashOf(password) };
          const kept = (made: Account) => keep({ status: 201, body: JSON.stringify(made) });
          return Response.json(await users.create(account, kept), { status: 201 });
        }),
      {
        open: true,
        body: signUpBody,
        response: { 201: account },
        detail: {
          tags,
          summary: "Sign up",
          ...mayAnswer({ ...badAccount, 409: ["USER_EXISTS", "IDEMPOTENCY_MISMATCH", "IDEMPOTENCY_IN_PROGRESS"] }),
        },
      },
    )
    .post(
      "/api/auth/callback/credentials",
      async ({ body, request }) => {
        const user = await signIn(body.email, body.password, contextOf(request).address);
        await startSession(request, user.id);
        return { ok: true as const, user: { id: user.id, email: user.email, name: user.name } };
      },
      {
        open: true,
        body: signInBody,
        response: { 200: signedIn },
        detail: { tags, summary: "Sign in", ...mayAnswer({ 401: "BAD_CREDENTIALS" }) },
      },
    )
    .get(
      "/api/auth/session",
      async ({ request }) => {
        const identity = await identities.identify(request);
        if (!identity) return { user: null, expires: null };
        const { id, email, name } = identity.user;
        return { user: { id, email, name }, expires: new Date(identity.session.expiresAt).toISOString() };
      },
      { open: true, response: { 200: currentSession }, detail: { tags, summary: "The current session, if any" } },
    )
    .post(
      "/api/auth/signout",
      async ({ request }) => {
        const identity = await identities.identify(request);
        if (identity) await sessions.revoke(identity.session.id);
        const { cookies } = contextOf(request);
        cookies.length = 0;
        cookies.push(sessions.clearCookie());
        return { ok: true };
      },
      { open: true, response: { 200: t.Object({ ok: t.Boolean() }) }, detail: { tags, summary: "Sign out" } },
    )
    .get("/api/settings", ({ identity }) => toCurrentUser(identity), {
      signedIn: "read",
      response: { 200: currentUser },
      detail: { tags, summary: "The current user" },
    })
    .post(
      "/api/auth/first-admin",
      async ({ body, request, status }) => {
        await limits.require("sign-up", contextOf(request).address);
        const account = { email: requireEmail(body.email), name: body.name, passwordHash: await hashOf(body.password) };
        const user = await firstAdmin.create(body.token, account);
        await startSession(request, user.id);
        return status(201, { ok: true as const, user });
      },
      {
        open: true,
        body: firstAdminBody,
        response: { 201: signedIn },
        detail: {
          tags,
          summary: "Make the first admin account with the link printed at the start",
          ...mayAnswer({ 400: [...badAccount[400], "INVALID_LINK"], 409: "USER_EXISTS" }),
        },
      },
    )
    .get("/setup", () => new Response(setupPage, { headers: pageHeaders }), { open: true, detail: { hide: true } });

  return {
    web,
    service: {
      users,
      identities,
      onSessionRevoked: sessions.onRevoked,
      firstAdminLink: firstAdmin.link,
      /** Gives the account with this email a plan. 404 when there is none. */
      async grant(email: string, plan: Parameters<typeof users.grant>[1], days: number) {
        const user = await users.byEmail(normalizeEmail(email));
        if (!user) throw new AppError(404, "USER_NOT_FOUND", "There is no account with this email.");
        return { email: user.email, ...(await users.grant(user.id, plan, days)) };
      },
    },
  };
});

const badAccount = { 400: ["INVALID_EMAIL", "INVALID_PASSWORD"] };

const pageHeaders = {
  "content-type": "text/html;charset=utf-8",
  "referrer-policy": "no-referrer",
  "content-security-policy":
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'",
};
