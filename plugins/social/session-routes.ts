// Social identity over HTTP: an identity token for a session, a refresh token for the next one.
import { Elysia } from "elysia";
import type { Config } from "../../src/kernel/config/config.ts";
import { AppError, forbidden, invalidInput } from "../../src/kernel/errors.ts";
import { openRoutes } from "../../src/kernel/http/http.ts";
import { documentErrors } from "../../src/kernel/http/openapi/route-documentation.ts";
import type { Gate } from "../gating/index.ts";
import type { IdentityTokens } from "./identity-tokens.ts";
import * as model from "./model.ts";
import { SESSION_SECONDS, type SocialSessions } from "./social-sessions.ts";

const tags = ["Social identity and token gating"];
const VERIFY_PATH = "/api/auth/social/verify";
const REFRESH_PATH = "/api/auth/social/refresh";

interface Deps {
  config: Pick<Config, "social">;
  gate: Gate;
  identityTokens: IdentityTokens;
  sessions: SocialSessions;
}

export function sessionRoutes({ config, gate, identityTokens, sessions }: Deps) {
  const { minBalance, token, chain } = gate.requirement;

  /** Whether the gate was checked for this address; 403 when it does not pass. */
  async function requireGate(address: string): Promise<boolean> {
    if (!gate.enabled || address === "") return false;
    if (await gate.hasAccess(address)) return true;
    const text = `This address holds too little ${token}.`;
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
          message: tokenGated ? "You are verified, and hold enough of the token." : "You are verified.",
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
          description:
            "Checks signature, issuer, audience and times, and that `sub` is a fid. With an `address`, and the gate on, the " +
            "address must pass it: else 403, with `required` (the token's symbol) and `minBalance`. A missing token is 401, " +
            "not 400. A fid has at most twenty sessions; the oldest end.",
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
          sessionToken: "Good for 24 hours.",
          refreshToken: "Good for one use.",
          address: "The address.",
          message: "What was found.",
          tokenGated: "Whether the gate was checked.",
          accessLevel: "premium or basic.",
        },
        issuer: config.social.issuer,
        audience: config.social.audience,
        tokenGating: { enabled: gate.enabled, minBalance, token, chain },
      }),
      {
        open: true,
        response: { 200: model.verifyDescription },
        detail: { tags, summary: "What verifying an identity token takes and answers" },
      },
    )
    .post(
      REFRESH_PATH,
      async ({ body: { refreshToken } }) => ({
        success: true as const,
        ...(await sessions.refresh(refreshToken)),
        expiresIn: SESSION_SECONDS,
        message: "Your session goes on. The old refresh token is used up.",
      }),
      {
        open: true,
        body: model.refreshBody,
        response: { 200: model.refreshResponse },
        detail: {
          tags,
          summary: "Refresh a social session",
          description:
            "Each refresh token is good once. One that comes again was stolen, or its successor was: then the session ends, " +
            "with all its tokens.",
          ...documentErrors({ 401: "INVALID_TOKEN" }),
        },
      },
    )
    .get(
      REFRESH_PATH,
      () => ({
        endpoint: REFRESH_PATH,
        method: "POST" as const,
        description: "Gives a new session token and a new refresh token for a refresh token, which is used up.",
        body: { refreshToken: "As the verification or the last refresh gave it. Required." },
        response: {
          success: "true",
          sessionToken: "Good for 24 hours.",
          refreshToken: "Good for one use.",
          expiresIn: "Seconds that the session token is good for.",
          message: "What was done.",
        },
        expiresIn: SESSION_SECONDS,
      }),
      {
        open: true,
        response: { 200: model.refreshDescription },
        detail: { tags, summary: "What refreshing a social session takes and answers" },
      },
    );
}
