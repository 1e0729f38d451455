// Issues and verifies Berth's social tokens: JWTs (HS256) signed with a vault key that is derived for one purpose,
// encoded as base64.
import type { Vault } from "../../src/kernel/security/vault.ts";

export interface SignedTokens<Claims extends object> {
  /** @param expiresAt epoch ms */
  issue(claims: Claims, expiresAt: number): string;
  /** The token's claims; undefined if another key or purpose signed it, it was changed, or it has expired. */
  verify(token: string): { claims: Claims; expiresAt: number } | undefined;
}

const encodeJson = (part: object) => Buffer.from(JSON.stringify(part)).toString("base64url");

const HEADER = encodeJson({ alg: "HS256", typ: "JWT" });
/** Characters of a token. */
const MAX_LENGTH = 4_096;

export function createSignedTokens<Claims extends object>(
  vault: Pick<Vault, "sign" | "verify">,
  purpose: string,
): SignedTokens<Claims> {
  return {
    issue(claims, expiresAt) {
      const seconds = { iat: Math.floor(Date.now() / 1000), exp: Math.floor(expiresAt / 1000) };
      const signingInput = `${HEADER}.${encodeJson({ ...claims, ...seconds })}`;
      return Buffer.from(`${signingInput}.${vault.sign(purpose, signingInput)}`).toString("base64");
    },
    verify(token) {
      if (token.length > MAX_LENGTH) return undefined;
      const [header, payload = "", signature = "", ...rest] = Buffer.from(token, "base64").toString().split(".");
      if (header !== HEADER || rest.length > 0 || !vault.verify(purpose, `${header}.${payload}`, signature))
        return undefined;
      // The signature was valid, so Berth wrote this payload and its shape is known.
      const claims = JSON.parse(Buffer.from(payload, "base64url").toString()) as Claims & { exp: number };
      const expiresAt = claims.exp * 1000;
      return Date.now() < expiresAt ? { claims, expiresAt } : undefined;
    },
  };
}
