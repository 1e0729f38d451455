// Where a browser goes after a sign-in: within Berth, and nowhere else.
import type { Config } from "../../../src/kernel/config/config.ts";

const MAX_LENGTH = 2048;

/**
 * The path, query and fragment that `text` names at Berth's own origin; `/` for anything else.
 *
 * @example safeCallback(config, "/agents?new=1") // "/agents?new=1"
 * @example safeCallback(config, "//evil.example") // "/"
 */
export function safeCallbackPath({ baseUrl }: Pick<Config, "baseUrl">, text: unknown): string {
  if (typeof text !== "string" || text.length > MAX_LENGTH) return "/";
  const { protocol, host } = new URL(baseUrl);
  const url = URL.parse(text, baseUrl);
  if (url?.protocol !== protocol || url.host !== host || url.username || url.password) return "/";
  const path = `${url.pathname}${url.search}${url.hash}`;
  // What parsing leaves of "/.//evil.example" would be taken for a host.
  return path.startsWith("//") ? "/" : path;
}
