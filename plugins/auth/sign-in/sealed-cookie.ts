// Short-lived, single-use cookies that carry the state of a sign-in. They are sealed (encrypted and authenticated) by
// the vault, so that clients can neither read nor forge them.
import type { Statement } from "../../../src/kernel/database/database.ts";
import type { Kernel } from "../../../src/kernel/plugin.ts";
import { randomToken } from "../../../src/kernel/util/tokens.ts";
import { useOnceStatements } from "./replay-protection.ts";

export interface CookieClaims {
  id: string;
  /** Epoch ms. */
  expiresAt: number;
}

export interface SealedCookie<T extends object> {
  /** The `set-cookie` value that holds `value`; it replaces the cookie that the browser had. */
  issue(value: T): string;
  /** The content of the cookie; undefined if there is none, it is not ours, or it has expired. */
  find(cookies: string | null): (T & CookieClaims) | undefined;
  /** For a batch: marks the cookie as used; aborts with GuardFailed `purpose` if it was used before. */
  useStatements(claims: CookieClaims): Statement[];
  /** The `set-cookie` value that deletes the cookie in the browser. */
  readonly clearCookie: string;
}

interface Options {
  name: string;
  /** The path of the one route that reads it; applies on http only. */
  path: string;
  lifetimeMs: number;
  purpose: string;
}

export function createSealedCookie<T extends object>(
  { config, vault }: Pick<Kernel, "config" | "vault">,
  { name: plainName, path, lifetimeMs, purpose }: Options,
): SealedCookie<T> {
  // The prefix keeps other hosts of the same domain from setting this cookie; it requires Path=/ (RFC 6265bis
  // §4.1.3.2).
  const secure = config.baseUrl.startsWith("https:");
  const name = secure ? `__Host-${plainName}` : plainName;
  const attributes = `Path=${secure ? "/" : path}; HttpOnly; SameSite=Lax${secure ? "; Secure" : ""}`;

  function unseal(cookies: string | null): (T & CookieClaims) | undefined {
    const sealed = new Bun.CookieMap(cookies ?? "").get(name);
    if (!sealed) return undefined;
    try {
      // Only `issue` seals for this purpose, so the content has this type.
      return JSON.parse(vault.open(sealed, purpose)) as T & CookieClaims;
    } catch {
      // The cookie is not ours, or was sealed under another key.
      return undefined;
    }
  }

  return {
    issue(value) {
      const id = randomToken(16);
      const claims: T & CookieClaims = { ...value, id, expiresAt: Date.now() + lifetimeMs };
      const sealed = vault.seal(JSON.stringify(claims), purpose);
      return `${name}=${sealed}; Max-Age=${lifetimeMs / 1000}; ${attributes}`;
    },
    find(cookies) {
      const claims = unseal(cookies);
      return claims && claims.expiresAt > Date.now() ? claims : undefined;
    },
    useStatements: ({ id, expiresAt }) => useOnceStatements(purpose, id, expiresAt),
    clearCookie: `${name}=; Max-Age=0; ${attributes}`,
  };
}
