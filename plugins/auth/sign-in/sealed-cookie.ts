// What a browser keeps for some minutes of a sign-in under way, and brings back once: sealed, so that nobody reads or makes it.
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
  /** The `set-cookie` that holds this, in place of what the browser held before. */
  issue(value: T): string;
  /** What this browser brings; undefined when that is nothing of ours, or too old. */
  find(cookies: string | null): (T & CookieClaims) | undefined;
  /** For a batch: uses it up; aborts the batch with GuardFailed `purpose` when that was done before. */
  useStatements(claims: CookieClaims): Statement[];
  /** Empties the cookie in the browser. */
  readonly clearCookie: string;
}

interface Options {
  name: string;
  /** Of the one route that reads it. */
  path: string;
  lifetimeMs: number;
  purpose: string;
}

export function createSealedCookie<T extends object>(
  { config, vault }: Pick<Kernel, "config" | "vault">,
  { name: plainName, path, lifetimeMs, purpose }: Options,
): SealedCookie<T> {
  // With the prefix no other host under the same domain can plant one of its own; it demands Path=/ (RFC 6265bis §4.1.3.2).
  const secure = config.baseUrl.startsWith("https:");
  const name = secure ? `__Host-${plainName}` : plainName;
  const attributes = `Path=${secure ? "/" : path}; HttpOnly; SameSite=Lax${secure ? "; Secure" : ""}`;

  function unseal(cookies: string | null): (T & CookieClaims) | undefined {
    const sealed = new Bun.CookieMap(cookies ?? "").get(name);
    if (!sealed) return undefined;
    try {
      // Nobody else can seal, so that it is what `keep` put in.
      return JSON.parse(vault.open(sealed, purpose)) as T & CookieClaims;
    } catch {
      // A cookie that is not ours holds nothing.
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
