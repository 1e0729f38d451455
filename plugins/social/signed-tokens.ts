// Tokens of our own: a JWT (HS256) under a key derived for one purpose, as base64.
import type { Vault } from "../../src/vault.ts";

export interface SignedTokens<Claims extends object> {
  /** `expiresAt`: epoch ms. */
  issue(claims: Claims, expiresAt: number): string;
  /** What a token says; undefined when it is not ours, was changed, is for another purpose, or too old. */
  read(token: string): { claims: Claims; expiresAt: number } | undefined;
}

const encoded = (part: object) => Buffer.from(JSON.stringify(part)).toString("base64url");

const HEADER = encoded({ alg: "HS256", typ: "JWT" });
const MAX_LENGTH = 4_096;

export function createSignedTokens<Claims extends object>(
  vault: Pick<Vault, "sign" | "verify">,
  purpose: string,
): SignedTokens<Claims> {
  return {
    issue(claims, expiresAt) {
      const seconds = { iat: Math.floor(Date.now() / 1000), exp: Math.floor(expiresAt / 1000) };
      const signed = `${HEADER}.${encoded({ ...claims, ...seconds })}`;
      return Buffer.from(`${signed}.${vault.sign(purpose, signed)}`).toString("base64");
    },
    read(token) {
      if (token.length > MAX_LENGTH) return undefined;
      const [header, payload = "", mac = "", ...rest] = Buffer.from(token, "base64").toString().split(".");
      if (header !== HEADER || rest.length > 0 || !vault.verify(purpose, `${header}.${payload}`, mac)) return undefined;
      // Only we can have written it.
      const claims = JSON.parse(Buffer.from(payload, "base64url").toString()) as Claims & { exp: number };
      const expiresAt = claims.exp * 1000;
      return Date.now() < expiresAt ? { claims, expiresAt } : undefined;
    },
  };
}
