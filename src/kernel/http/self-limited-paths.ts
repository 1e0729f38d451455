// Decides which requests are exempt from the default rate limit, because their routes count requests in their own way.

export interface SelfLimitedPath {
  /** Default: both surfaces. */
  surface?: "web" | "backend";
  method: string;
  /** The start of the path, such as `/files/`. */
  prefix: string;
  /** Whether the path must have one more segment after the one that follows the prefix. */
  deep?: boolean;
}

/**
 * Makes the check for one surface. It compares the URL's text without parsing it, since it runs for every request;
 * requests of the network have URLs that are normalised, without `..`.
 */
export function createSelfLimitedCheck(surface: "web" | "backend", paths: readonly SelfLimitedPath[]) {
  const own = paths.filter((path) => path.surface === undefined || path.surface === surface);

  return function isSelfLimited({ method, url }: Request): boolean {
    for (const path of own) {
      if (path.method !== method) continue;
      const start = url.indexOf("/", "https://".length);
      if (!url.startsWith(path.prefix, start)) continue;
      if (!path.deep || url.indexOf("/", start + path.prefix.length) > 0) return true;
    }
    return false;
  };
}
