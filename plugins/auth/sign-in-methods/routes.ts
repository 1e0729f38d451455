// The routes of the ways to sign in: those of this service, and those of the caller's account.
import { Elysia, t } from "elysia";
import { AppError } from "../../../src/kernel/errors.ts";
import { documentErrors } from "../../../src/kernel/http/openapi/route-documentation.ts";
import { contextOf } from "../../../src/kernel/http/request-context.ts";
import { openRoutes } from "../../../src/kernel/http/route-guards.ts";
import { type AuthServices, tags } from "../auth-services.ts";
import { configuredProviders } from "../oauth/configured-providers.ts";
import type { OAuth } from "../oauth/oauth.ts";
import { OAuthFailure } from "../oauth/oauth-failure.ts";
import { MIN_PASSWORD_LENGTH } from "../password/length.ts";
import { signUpSettings } from "../settings.ts";
import { PROOF_ERRORS, type WalletProofs } from "../wallet/wallet-proof.ts";
import {
  availableMethods,
  confirmationBody,
  methodList,
  methodResponse,
  providerAddress,
  providerBody,
  removedMethod,
  toMethodItem,
  walletBody,
} from "./model.ts";
import { createSignInMethods } from "./sign-in-methods.ts";

const PATH = "/api/settings/sign-ins";
const confirmationErrors = { 401: "BAD_CREDENTIALS", 403: "RECENT_SIGN_IN_REQUIRED" } as const;

interface Deps {
  oauth: OAuth;
  walletProofs: WalletProofs;
  /** The chain of wallets' messages. */
  chainId: number;
}

export function signInMethodRoutes(services: AuthServices, { oauth, walletProofs, chainId }: Deps) {
  const { kernel, identities, reauthenticate } = services;
  const { config } = kernel;
  const methods = createSignInMethods({ ...services, walletProofs });
  const recent = { field: "currentPassword", allowRecentSignIn: true };
  const providers = configuredProviders(config).map(({ id, name }) => ({ id, name, url: `/api/auth/oauth/${id}` }));
  const available = {
    wallet: { chainId },
    signUp: config.of(signUpSettings).mode,
    password: { minLength: MIN_PASSWORD_LENGTH },
    sendsMail: config.smtp.url !== undefined,
  };

  return new Elysia({ name: "auth.sign-in-methods" })
    .use(openRoutes)
    .use(identities.guards)
    .get(
      "/api/auth/providers",
      async ({ query: { check } }) => {
        if (check) await oauth.reachability.check();
        const reachable = oauth.reachability.of;
        return { providers: providers.map((one) => ({ ...one, reachable: reachable(one.id) })), ...available };
      },
      {
        open: true,
        query: t.Object({
          check: t.Optional(
            t.Boolean({
              description: "Ask each OpenID provider that was not asked lately, which takes three seconds at most",
            }),
          ),
        }),
        response: { 200: availableMethods },
        detail: {
          tags,
          summary: "The ways to sign in and sign up that this service offers",
          description:
            "For sign-in pages: the configured providers with the address that begins each and whether it answers, the chain for wallet sign-ins, whether strangers may sign up, and the rules of passwords.",
          operationId: "listSignInMethods",
        },
      },
    )
    .get(
      PATH,
      async ({ identity: { user } }) => {
        const signIns = (await methods.list(user)).map(toMethodItem);
        return { hasPassword: user.passwordHash !== null, signIns, count: signIns.length };
      },
      {
        ownSession: true,
        response: { 200: methodList },
        detail: {
          tags,
          summary: "The sign-ins that are linked to your account, oldest first; at most 20",
          description: "Providers and wallets that sign in to this account. `canRemove` is false for the last way in.",
          operationId: "listSignIns",
        },
      },
    )
    .post(
      `${PATH}/wallet`,
      async ({ identity, body, request, set }) => {
        const { address } = contextOf(request);
        await reauthenticate(identity, body.currentPassword, address, recent);
        const signIn = toMethodItem(await methods.linkWallet(identity, body, address));
        set.status = 201;
        return { signIn };
      },
      {
        ownSession: true,
        body: walletBody,
        response: { 201: methodResponse },
        detail: {
          tags,
          summary: "Link a wallet to your account",
          operationId: "linkWallet",
          description: "Takes a message of Sign-In with Ethereum, with a nonce of `GET /api/auth/nonce`.",
          ...documentErrors({
            401: [...PROOF_ERRORS, confirmationErrors[401]],
            403: confirmationErrors[403],
            409: ["ALREADY_LINKED", "TOO_MANY_SIGN_INS"],
            500: "CHAIN_UNAVAILABLE",
          }),
        },
      },
    )
    .post(
      PATH,
      async ({ identity, body, request }) => {
        const { address, cookies } = contextOf(request);
        await reauthenticate(identity, body.currentPassword, address, recent);
        const linkTo = { userId: identity.user.id, sessionId: identity.session.id };
        const { location, cookie } = await oauth.start(body.provider, undefined, linkTo).catch(toUnavailable);
        cookies.push(cookie);
        return { url: location };
      },
      {
        ownSession: true,
        body: providerBody,
        response: { 200: providerAddress },
        detail: {
          tags,
          summary: "Begin to link a provider to your account",
          operationId: "beginSignInLink",
          description:
            "Send the browser to `url`. The provider sends it back to `/account/sign-ins?linked=PROVIDER`, or " +
            "`?error=CODE` as at `GET /api/auth/callback/:provider`.",
          ...documentErrors({
            ...confirmationErrors,
            404: ["NOT_FOUND", "PROVIDER_NOT_CONFIGURED"],
            502: "PROVIDER_UNAVAILABLE",
          }),
        },
      },
    )
    .delete(
      `${PATH}/:id`,
      async ({ identity, params: { id }, body, request }) => {
        await reauthenticate(identity, body.currentPassword, contextOf(request).address, recent);
        await methods.remove(identity, id);
        return { success: true as const, id };
      },
      {
        ownSession: true,
        body: confirmationBody,
        response: { 200: removedMethod },
        detail: {
          tags,
          summary: "Remove a sign-in from your account",
          operationId: "deleteSignIn",
          description:
            "Ends all other sessions. The last way into the account stays. A provider that knows the account's address as " +
            "verified signs it in again, and is linked again then.",
          ...documentErrors({
            ...confirmationErrors,
            404: "SIGN_IN_NOT_FOUND",
            409: ["LAST_SIGN_IN", "SIGN_IN_IS_ADDRESS"],
          }),
        },
      },
    );
}

function toUnavailable(error: unknown): never {
  if (!(error instanceof OAuthFailure)) throw error;
  const text = "The provider can't be reached right now. Try again in a moment.";
  throw new AppError(502, "PROVIDER_UNAVAILABLE", text, {}, { cause: error });
}
