// Routes that exchange an identity token for a social session, and a refresh token for new tokens of that session.

import { Elysia } from "elysia";
import type { SettingsOf } from "../../src/kernel/config/config.ts";
import { AppError, forbidden, invalidInput } from "../../src/kernel/errors.ts";
import { documentErrors } from "../../src/kernel/http/openapi/route-documentation.ts";
import { openRoutes } from "../../src/kernel/http/route-guards.ts";
import type { Gate } from "../gating/index.ts";
import type { IdentityTokens } from "./identity-tokens.ts";
import * as model from "./model.ts";
import type { socialSettings } from "./settings.ts";
import { SESSION_SECONDS, type SocialSessions } from "./social-sessions.ts";

const tags = ["Social identity and token gating"];
const VERIFY_PATH = "/api/auth/social/verify";
const REFRESH_PATH = "/api/auth/social/refresh";

interface Deps {
  settings: SettingsOf<typeof socialSettings>;
  gate: Gate;
  identityTokens: IdentityTokens;
  sessions: SocialSessions;
}

export function sessionRoutes({ settings, gate, identityTokens, sessions }: Deps) {
  const { minBalance, token, chain } = gate.requirement;

  /** True if the gate was checked and passed, false if it was not checked; throws 403 if the address does not pass. */
  async function requireGate(address: string): Promise<boolean> {
    if (!gate.enabled || address === "") return false;
    if (await gate.hasAccess(address)) return true;
    const text = `This address holds too little ${token}. Use one that holds the minimum.`;
    throw forbidden("INSUFFICIENT_BALANCE", text, { required: token, minBalance });
  }

  return new Elysia({ name: "social.identity" })
    .use(openRoutes)
    .post(
      VERIFY_PATH,
      async ({ body: { fidToken, ...given } }) => {
        const address = given.address ?? "";
        if (typeof fidToken !== "string" || fidToken === "") {
          throw new AppError(401, "TOKEN_REQUIRED", "Send an identity token as `fidToken`.");
        }
        const fid = await identityTokens.verifyFid(fidToken);
        if (address !== "" && !model.isAddress(address))
          throw invalidInput({ path: "address", message: model.ADDRESS_RULE });
        const tokenGated = await requireGate(address);
        return {
          success: true as const,
          ...(await sessions.start(fid, address)),
          address,
          message: tokenGated ? "You are verified, and your address holds enough of the token." : "You are verified.",
          tokenGated,
          accessLevel: tokenGated || !gate.enabled ? ("premium" as const) : ("basic" as const),
        };
      },
      {
        open: true,
        body: model.verifyBody,
        response: { 200: model.verifyResponse },
        detail: {
          tags,
          summary: "Verify an identity token",
          operationId: "verifySocialToken",
          description:
            "Checks signature, issuer, audience and times, and that `sub` is a fid. If the gate is on and an `address` is " +
            "given, the address must pass: else 403, with `required` (the token's symbol) and `minBalance`. A missing token " +
            "is 401, not 400. A fid has at most twenty sessions; the oldest ones are ended.",
          ...documentErrors({
            401: ["TOKEN_REQUIRED", "INVALID_TOKEN"],
            403: "INSUFFICIENT_BALANCE",
            500: ["CHAIN_UNAVAILABLE", "ISSUER_UNAVAILABLE"],
          }),
        },
      },
    )
    .get(
      VERIFY_PATH,
      () => ({
        endpoint: VERIFY_PATH,
        method: "POST" as const,
        description: "Verifies an identity token, and whether an address holds enough of the gating token.",
        body: { fidToken: "The identity token. Required.", address: "An Ethereum address, for the gate. Optional." },
        response: {
          success: "true",
          sessionToken: "Valid for 24 hours.",
          refreshToken: "Valid for one use.",
          address: "The address.",
          message: "The result, for people.",
          tokenGated: "Whether the gate was checked.",
          accessLevel: "premium or basic.",
        },
        issuer: settings.issuer,
        audience: settings.audience,
        tokenGating: { enabled: gate.enabled, minBalance, token, chain },
      }),
      {
        open: true,
        response: { 200: model.verifyDescription },
        detail: {
          tags,
          summary: "Describe the verification of identity tokens",
          description:
            "For developers of mini apps: what `POST` takes and returns, and the issuer and audience that tokens must have.",
          operationId: "describeSocialVerification",
        },
      },
    )
    .post(
      REFRESH_PATH,
      async ({ body: { refreshToken } }) => ({
        success: true as const,
        ...(await sessions.refresh(refreshToken)),
        expiresIn: SESSION_SECONDS,
        message: "Your session is extended. The old refresh token is no longer valid.",
      }),
      {
        open: true,
        body: model.refreshBody,
        response: { 200: model.refreshResponse },
        detail: {
          tags,
          summary: "Refresh a social session",
          operationId: "refreshSocialSession",
          description:
            "Each refresh token works once. A token that is used again was stolen, or its successor was, so the session is " +
            "ended with all its tokens.",
          ...documentErrors({ 401: "INVALID_TOKEN" }),
        },
      },
    )
    .get(
      REFRESH_PATH,
      () => ({
        endpoint: REFRESH_PATH,
        method: "POST" as const,
        description:
          "Exchanges a refresh token for a new session token and a new refresh token. The old one is no longer valid.",
        body: { refreshToken: "From the verification or the last refresh. Required." },
        response: {
          success: "true",
          sessionToken: "Valid for 24 hours.",
          refreshToken: "Valid for one use.",
          expiresIn: "Seconds until the session token expires.",
          message: "The result, for people.",
        },
        expiresIn: SESSION_SECONDS,
      }),
      {
        open: true,
        response: { 200: model.refreshDescription },
        detail: {
          tags,
          summary: "Describe the refresh of social sessions",
          description: "For developers of mini apps: what `POST` takes and returns, and how long a session lasts.",
          operationId: "describeSocialRefresh",
        },
      },
    );
}
