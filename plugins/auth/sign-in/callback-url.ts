// Reduces the callback address of a sign-in to a path within Berth, which prevents open redirects.
import type { Config } from "../../../src/kernel/config/config.ts";

const MAX_LENGTH = 2048;

/**
 * The path, query and fragment that `text` names at Berth's own origin; `/` for anything else.
 *
 * @example safeCallbackPath(config, "/agents?new=1") // "/agents?new=1"
 * @example safeCallbackPath(config, "//evil.example") // "/"
 */
export function safeCallbackPath({ baseUrl }: Pick<Config, "baseUrl">, text: unknown): string {
  if (typeof text !== "string" || text.length > MAX_LENGTH) return "/";
  const { protocol, host } = new URL(baseUrl);
  const url = URL.parse(text, baseUrl);
  if (url?.protocol !== protocol || url.host !== host || url.username || url.password) return "/";
  const path = `${url.pathname}${url.search}${url.hash}`;
  // Parsing turns "/.//evil.example" into "//evil.example", which a browser would take as a host.
  return path.startsWith("//") ? "/" : path;
}
