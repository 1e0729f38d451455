// The scopes of connected apps: the same as those of API keys.
import type { Scope } from "../../auth/index.ts";

export const APP_SCOPES = ["read", "chat", "write"] as const satisfies readonly Scope[];

/** The known ones of these texts, in a fixed order. */
export const readScopes = (texts: readonly string[]): ReadonlySet<Scope> =>
  new Set(APP_SCOPES.filter((scope) => texts.includes(scope)));
