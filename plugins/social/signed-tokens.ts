// Tokens of our own: a JWT (HS256) under a key derived for one purpose, as base64.
import type { Vault } from "../../src/kernel/security/vault.ts";

export interface SignedTokens<Claims extends object> {
  /** `expiresAt`: epoch ms. */
  issue(claims: Claims, expiresAt: number): string;
  /** What a token says; undefined when it is not ours, was changed, is for another purpose, or too old. */
  verify(token: string): { claims: Claims; expiresAt: number } | undefined;
}

const encodeJson = (part: object) => Buffer.from(JSON.stringify(part)).toString("base64url");

const HEADER = encodeJson({ alg: "HS256", typ: "JWT" });
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
      // Only we can have written it.
      const claims = JSON.parse(Buffer.from(payload, "base64url").toString()) as Claims & { exp: number };
      const expiresAt = claims.exp * 1000;
      return Date.now() < expiresAt ? { claims, expiresAt } : undefined;
    },
  };
}
