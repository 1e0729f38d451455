// Identity tokens: a JWT of the configured issuer that says which fid its bearer is.
import type { JWTPayload } from "jose";
import type { Config } from "../../src/kernel/config/config.ts";
import { AppError } from "../../src/kernel/errors.ts";
import type { FindKey } from "./issuer-keys.ts";

export interface IdentityTokens {
  /**
   * The fid a token speaks for, in decimal. Throws 401 `INVALID_TOKEN` for any token that is not good, without a word about
   * why, and 500 `ISSUER_UNAVAILABLE` when the issuer's keys are not known.
   */
  verifyFid(token: string): Promise<string>;
}

/** Of public keys alone: with a secret one, whoever knows the public key could sign. */
const ALGORITHMS = ["EdDSA", "Ed25519", "ES256", "ES384", "PS256", "RS256", "RS384", "RS512"];
const REQUIRED = ["iss", "aud", "sub", "iat", "exp"];
const MAX_LENGTH = 8_192;
/** Seconds by which the issuer's clock may be ahead of ours. */
const CLOCK_SKEW_SECONDS = 60;

export function createIdentityTokens({ social }: Pick<Config, "social">, findKey: FindKey): IdentityTokens {
  const { issuer, audience } = social;
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

/** The issuer writes `sub` as a number, where the standard (RFC 7519 §4.1.2) wants text: both are taken. */
function fidFromClaims({ iat = Number.POSITIVE_INFINITY, ...claims }: JWTPayload): string | undefined {
  if (iat > Date.now() / 1000 + CLOCK_SKEW_SECONDS) return undefined;
  const sub: unknown = claims.sub;
  const text = typeof sub === "number" && Number.isSafeInteger(sub) ? String(sub) : sub;
  return typeof text === "string" && /^[1-9]\d{0,19}$/.test(text) ? text : undefined;
}

/** 401: the token is not good; why is for the log alone. */
export const invalidToken = (cause?: unknown) =>
  new AppError(401, "INVALID_TOKEN", "This token is not valid, or not any more.", {}, { cause });
