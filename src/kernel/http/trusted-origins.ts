// Lists the origins whose pages may send requests that carry a user's cookie.
import { type Config, isLoopbackHost } from "../config/config.ts";

const LOOPBACK_NAMES = ["localhost", "127.0.0.1", "[::1]"];

/** Returns the origins of a URL. For a loopback host, these are all names of this machine. */
function originVariants(url: string): string[] {
  const { origin, protocol, hostname, port } = new URL(url);
  if (!isLoopbackHost(hostname)) return [origin];
  return [origin, ...LOOPBACK_NAMES.map((name) => `${protocol}//${name}${port && `:${port}`}`)];
}

/** Returns Berth's own origin and those of CORS_ORIGINS; for the backend also its own, for its documentation page. */
export function trustedOrigins(
  { baseUrl, corsOrigins, backend }: Pick<Config, "baseUrl" | "corsOrigins" | "backend">,
  surfaceName: "web" | "backend",
): ReadonlySet<string> {
  return new Set([
    ...originVariants(baseUrl),
    ...corsOrigins,
    ...(surfaceName === "backend" ? originVariants(backend.url) : []),
  ]);
}
