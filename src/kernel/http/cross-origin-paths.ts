// Decides which pages of other origins may call which paths: beside CORS_ORIGINS, only those that a plugin names, and
// without credentials.

export interface CrossOriginPath {
  surface: "web" | "backend";
  /** The start of the path, such as `/api/embed/`. */
  prefix: string;
  /**
   * Whether pages of this origin may call the request's path. It is asked for each request with an `Origin` header, also for
   * one from Berth's own pages and for a preflight, and in place of the check against CSRF: so the routes below the prefix
   * read no cookie.
   */
  allows(request: Request, origin: string): Promise<boolean>;
}

/** Headers of a response to an allowed origin. The browser then shows it to the page, unless it was sent with credentials. */
export const crossOriginHeaders = (origin: string): Readonly<Record<string, string>> => ({
  "access-control-allow-origin": origin,
  "access-control-expose-headers": "retry-after, x-request-id",
});

/** Further headers of the response to a preflight (Fetch, CORS protocol). */
export const CROSS_ORIGIN_PREFLIGHT: Readonly<Record<string, string>> = {
  "access-control-allow-methods": "GET, POST",
  "access-control-allow-headers": "content-type",
  "access-control-max-age": "600",
};

/** Finds the path of a request for one surface. Compares the URL's text, since it runs for each request with an origin. */
export function createCrossOriginFinder(surface: "web" | "backend", paths: readonly CrossOriginPath[]) {
  const own = paths.filter((path) => path.surface === surface);
  return ({ url }: Request): CrossOriginPath | undefined => {
    if (own.length === 0) return undefined;
    const start = url.indexOf("/", "https://".length);
    return own.find(({ prefix }) => url.startsWith(prefix, start));
  };
}
