// Whose pages may act with a visitor's cookie.
import type { Config } from "./config.ts";

/** Berth's own origin, and those of CORS_ORIGINS. `localhost` and `127.0.0.1` are one place to people. */
export function ownOrigins({ baseUrl, corsOrigins }: Pick<Config, "baseUrl" | "corsOrigins">): ReadonlySet<string> {
  const { origin, hostname } = new URL(baseUrl);
  const twin = hostname === "localhost" ? [origin.replace("localhost", "127.0.0.1")] : [];
  return new Set([origin, ...twin, ...corsOrigins]);
}
