// Verifies identity tokens: JWTs that the configured issuer signs and whose subject is a fid: the user id
// in the social network.

import type { JWTPayload } from "jose";
import type { SettingsOf } from "../../src/kernel/config/config.ts";
import { AppError } from "../../src/kernel/errors.ts";
import type { FindKey } from "./issuer-keys.ts";
import type { socialSettings } from "./settings.ts";

export interface IdentityTokens {
  /**
   * The fid of a token's subject, in decimal. Throws 401 `INVALID_TOKEN` for every invalid token, without giving the
   * reason, and 500 `ISSUER_UNAVAILABLE` if the issuer's keys are not known.
   */
  verifyFid(token: string): Promise<string>;
}

/** Asymmetric algorithms only: with an HMAC one, a forger could sign with the issuer's public key as the secret. */
const ALGORITHMS = ["EdDSA", "Ed25519", "ES256", "ES384", "PS256", "RS256", "RS384", "RS512"];
const REQUIRED = ["iss", "aud", "sub", "iat", "exp"];
/** Characters of a token. */
const MAX_LENGTH = 8_192;
/** Seconds by which the issuer's clock may be ahead of ours. */
const CLOCK_SKEW_SECONDS = 60;

export function createIdentityTokens(
  { issuer, audience }: SettingsOf<typeof socialSettings>,
  findKey: FindKey,
): IdentityTokens {
  return {
    async verifyFid(token) {
      if (token.length > MAX_LENGTH) throw invalidToken();
      const { jwtVerify } = await import("jose");
      const options = { issuer, audience, algorithms: ALGORITHMS, requiredClaims: REQUIRED };
      const { payload } = await jwtVerify(token, findKey, options).catch((error: unknown) => {
        throw error instanceof AppError ? error : invalidToken(error);
      });
      const fid = fidFromClaims(payload);
      if (fid === undefined) throw invalidToken();
      return fid;
    },
  };
}

/** The issuer writes `sub` as a number, although RFC 7519 §4.1.2 requires a string: both are accepted. */
function fidFromClaims({ iat = Number.POSITIVE_INFINITY, ...claims }: JWTPayload): string | undefined {
  if (iat > Date.now() / 1000 + CLOCK_SKEW_SECONDS) return undefined;
  const sub: unknown = claims.sub;
  const text = typeof sub === "number" && Number.isSafeInteger(sub) ? String(sub) : sub;
  return typeof text === "string" && /^[1-9]\d{0,19}$/.test(text) ? text : undefined;
}

/** 401 `INVALID_TOKEN`; the cause goes to the log only. */
export const invalidToken = (cause?: unknown) =>
  new AppError(
    401,
    "INVALID_TOKEN",
    "This token is not valid or no longer valid. Verify with a new identity token.",
    {},
    { cause },
  );
