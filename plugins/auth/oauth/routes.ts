// The routes of sign-in with providers: redirect, callback, and the second step with a code.
import { Elysia, t } from "elysia";
import { Elsewhere } from "../../../src/kernel/cells/cells.ts";
import { forwardingOf } from "../../../src/kernel/cells/forwarding.ts";
import { AppError } from "../../../src/kernel/errors.ts";
import { documentErrors } from "../../../src/kernel/http/openapi/route-documentation.ts";
import { contextOf } from "../../../src/kernel/http/request-context.ts";
import { openRoutes } from "../../../src/kernel/http/route-guards.ts";
import { preferredLanguage } from "../../../src/kernel/pages/language.ts";
import { type AuthServices, tags } from "../auth-services.ts";
import { signInRedirectResponse, totp } from "../model.ts";
import type { OAuth } from "./oauth.ts";
import { FAILURE_DESCRIPTIONS, type FailureCode, LINK_FAILURE_DESCRIPTIONS, OAuthFailure } from "./oauth-failure.ts";

const params = t.Object({ provider: t.String({ description: "`google`, `github`, `oidc`, or `oidc_2` to `oidc_9`" }) });
const providerErrors = documentErrors({ 404: ["NOT_FOUND", "PROVIDER_NOT_CONFIGURED"] });
const redirectResponse = (description: string) => ({
  responses: { 302: { description, headers: { location: { schema: { type: "string" as const } } } } },
});
const listCodes = (descriptions: Readonly<Record<string, string>>) =>
  Object.entries(descriptions)
    .map(([code, meaning]) => `- \`${code}\`: ${meaning}`)
    .join("\n");

export function oauthRoutes(services: AuthServices, oauth: OAuth) {
  const { secondStep } = oauth;
  const { log } = services.kernel;

  /** Redirects to the page on every error but 404, since a person in a browser follows these routes. */
  async function redirectOrExplain(
    provider: string,
    failurePage: string,
    operation: () => Promise<string>,
  ): Promise<Response> {
    try {
      return redirect(await operation());
    } catch (error) {
      if (error instanceof Elsewhere || (error instanceof AppError && error.status === 404)) throw error;
      return redirect(`${failurePage}?error=${toFailureCode(error, provider)}`);
    }
  }

  function toFailureCode(error: unknown, provider: string): FailureCode {
    const failure = toOAuthFailure(error);
    if (!failure) {
      log.error("OAuth sign-in failed unexpectedly", { provider, error });
      return "SIGN_IN_FAILED";
    }
    const { code, reason } = failure;
    const level = WARNED_CODES.has(code) ? "warn" : "debug";
    log[level]("OAuth sign-in refused", { provider, code, reason });
    return code;
  }

  return new Elysia({ name: "auth.oauth" })
    .use(openRoutes)
    .get(
      "/api/auth/oauth/:provider",
      ({ params: { provider }, query, request }) =>
        redirectOrExplain(provider, "/login", async () => {
          const { location, cookie } = await oauth.start(provider, query.callbackUrl);
          contextOf(request).cookies.push(cookie);
          return location;
        }),
      {
        open: true,
        params,
        query: t.Object({
          callbackUrl: t.Optional(
            t.String({ description: "A path within Berth to return to; anything else counts as `/`" }),
          ),
        }),
        detail: {
          tags,
          summary: "Sign in with a provider",
          description:
            "Redirects the browser to the provider's sign-in page. Afterwards the provider sends it to `/api/auth/callback/{provider}`, which signs in and redirects to `callbackUrl`.",
          operationId: "beginProviderSignIn",
          ...redirectResponse("To the provider; if it can't be reached, to `/login?error=PROVIDER_UNAVAILABLE`."),
          ...providerErrors,
        },
      },
    )
    .get(
      "/api/auth/callback/:provider",
      ({ params: { provider }, request }) => {
        const { headers, url } = request;
        const { address, cookies, id: requestId } = contextOf(request);
        const response = { cookies: headers.get("cookie"), search: new URL(url).search };
        return redirectOrExplain(provider, oauth.failurePage(provider, response), async () => {
          const session = await services.sessions.find(response.cookies);
          const callback = {
            ...response,
            address,
            forwarding: forwardingOf(request),
            requestId,
            locale: preferredLanguage(headers.get("accept-language")),
            session: session && { userId: session.userId, sessionId: session.id },
          };
          const { signedIn, location } = await oauth.finish(provider, callback, cookies);
          if (signedIn) await services.startSession(request, signedIn.userId, signedIn.evidence);
          return location;
        });
      },
      {
        open: true,
        params,
        detail: {
          tags,
          summary: "Return from the provider",
          operationId: "finishProviderSignIn",
          description:
            `Where the provider sends the browser. Every failure goes to \`/login?error=CODE\`:\n\n${listCodes(FAILURE_DESCRIPTIONS)}\n\n` +
            `If the identity was to be linked, failures go to \`/account/sign-ins?error=CODE\`, with these codes or:\n\n${listCodes(LINK_FAILURE_DESCRIPTIONS)}`,
          ...redirectResponse(
            "Signed in: to `callbackUrl`, with the session cookie. With two-factor on: to `/login?step=code`, which " +
              "sends a code to `POST /api/auth/two-factor`. After a failure: to the sign-in page with its code.",
          ),
          ...providerErrors,
        },
      },
    )
    .post(
      "/api/auth/two-factor",
      async ({ body, request }) => {
        const { address, cookies, id: requestId } = contextOf(request);
        const { user, evidence, callbackUrl } = await secondStep.finish(request.headers.get("cookie"), body.totp, {
          address,
          requestId,
        });
        cookies.push(secondStep.clearCookie);
        const { id, email, name } = user;
        await services.startSession(request, id, evidence);
        return { ok: true as const, url: callbackUrl, user: { id, email, name } };
      },
      {
        open: true,
        body: t.Object({ totp }),
        response: { 200: signInRedirectResponse },
        detail: {
          tags,
          summary: "The second step of a sign-in with a provider",
          operationId: "finishTwoFactorSignIn",
          description:
            "For the browser that returned from the provider to `/login?step=code`: once, within ten minutes. Then " +
            "go to `url`.",
          ...documentErrors({ 401: ["SIGN_IN_OVER", "TOTP_REQUIRED", "INVALID_TOTP", "BAD_CREDENTIALS"] }),
        },
      },
    );
}

/** Failures that the operator may have to look into. */
const WARNED_CODES: ReadonlySet<FailureCode> = new Set([
  "PROVIDER_MISCONFIGURED",
  "PROVIDER_UNAVAILABLE",
  "SIGN_IN_FAILED",
]);

/** Errors with a known cause; undefined for an unexpected one. */
function toOAuthFailure(error: unknown): OAuthFailure | undefined {
  if (error instanceof OAuthFailure) return error;
  const status = error instanceof AppError ? error.status : undefined;
  if (status === 429) return new OAuthFailure("RATE_LIMITED");
  return status === 401 ? new OAuthFailure("SIGN_IN_FAILED", "the account was changed in the meantime") : undefined;
}

/** A redirect that keeps addresses with codes in them out of caches and of `Referer`. */
const redirect = (location: string) =>
  new Response(null, {
    status: 302,
    headers: { location, "cache-control": "no-store", "referrer-policy": "no-referrer" },
  });
