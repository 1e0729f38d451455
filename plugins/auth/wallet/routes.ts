// The routes of Sign-In with Ethereum: request a nonce, then send the signed message.
import { Elysia, t } from "elysia";
import { forwardingOf } from "../../../src/kernel/cells/forwarding.ts";
import { documentErrors } from "../../../src/kernel/http/openapi/route-documentation.ts";
import { contextOf } from "../../../src/kernel/http/request-context.ts";
import { openRoutes } from "../../../src/kernel/http/route-guards.ts";
import { preferredLanguage } from "../../../src/kernel/pages/language.ts";
import { type AuthServices, tags } from "../auth-services.ts";
import { signInRedirectResponse } from "../model.ts";
import { safeCallbackPath } from "../sign-in/callback-url.ts";
import { PROOF_ERRORS, type WalletProofs } from "./wallet-proof.ts";
import { createWalletSignIn } from "./wallet-sign-in.ts";

/** Documented as text but not validated by the schema, since a missing message or signature must give 401, not 400. */
const text = (description: string) => t.Optional(t.Unknown({ type: "string", description }));

const walletProofBody = t.Object({
  message: text("The full message (EIP-4361), for the host of `BASE_URL` and chain 8453"),
  signature: text(
    "Its signature in hex, starting with 0x: of a key (EIP-191) or of a smart wallet (ERC-1271, ERC-6492)",
  ),
  totp: text("With two-factor on: a code of the authenticator app or a recovery code"),
  callbackUrl: text("Where to go next, within Berth; default `/`"),
});

const issuedNonce = t.Object({
  nonce: t.String(),
  expiresAt: t.String({ description: "ISO 8601" }),
  message: t.Optional(t.String({ description: "The message to sign (EIP-4361); only for an `address`" })),
});

export function walletRoutes(services: AuthServices, walletProofs: WalletProofs) {
  const { config } = services.kernel;
  const wallet = createWalletSignIn({ ...services, walletProofs });

  return new Elysia({ name: "auth.wallet" })
    .use(openRoutes)
    .get(
      "/api/auth/nonce",
      async ({ set, query: { address } }) => {
        set.headers["cache-control"] = "no-store";
        const issued = address === undefined ? walletProofs.nonce() : await walletProofs.createMessage(address);
        return { ...issued, expiresAt: new Date(issued.expiresAt).toISOString() };
      },
      {
        open: true,
        query: t.Object({
          address: t.Optional(
            t.String({ maxLength: 100, description: "Ask for a whole message for this address to sign" }),
          ),
        }),
        response: { 200: issuedNonce },
        detail: {
          tags,
          summary: "A nonce for the next wallet sign-in",
          description:
            "The nonce works once, until `expiresAt`. With `address`, the answer also has the whole `message` (EIP-4361) for the wallet to sign.",
          operationId: "createWalletNonce",
        },
      },
    )
    .post(
      "/api/auth/callback/wallet",
      async ({ body, request }) => {
        const locale = preferredLanguage(request.headers.get("accept-language"));
        const visitor = { address: contextOf(request).address, locale, forwarding: forwardingOf(request) };
        const { account, evidence } = await wallet.signInWithProof(body, visitor);
        const { id, email, name } = account;
        await services.startSession(request, id, evidence);
        const url = safeCallbackPath(config, body.callbackUrl);
        if (wantsJson(request)) return Response.json({ ok: true, url, user: { id, email, name } });
        return new Response(null, { status: 302, headers: { location: url } });
      },
      {
        open: true,
        body: walletProofBody,
        response: { 200: signInRedirectResponse },
        detail: {
          tags,
          summary: "Sign in with an Ethereum wallet",
          operationId: "signInWithWallet",
          description:
            "Redirects (302) to `callbackUrl`; a request that accepts only `application/json` gets 200. A new wallet " +
            "gets an account. The signature of a smart wallet is checked on the chain: 500 `CHAIN_UNAVAILABLE` if " +
            "that can't be reached.",
          ...documentErrors({ 401: refusals, 403: ["ACCOUNT_DISABLED", "SIGN_UP_CLOSED"], 500: "CHAIN_UNAVAILABLE" }),
        },
      },
    );
}

const refusals = [...PROOF_ERRORS, "TOTP_REQUIRED", "INVALID_TOTP"];

const wantsJson = (request: Request) =>
  (request.headers.get("accept") ?? "").split(",").every((range) => /^\s*application\/json\s*(?:;|$)/i.test(range));
