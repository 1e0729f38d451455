// Builds routes that few processes need at the first request for one of them, so that they take no time at the start and
// no memory until then. A request builds only the part that serves it, where it is known which one that is.

import { type AnyElysia, Elysia } from "elysia";
import type { LatePart, LatePlaces } from "./late-apps.ts";
import { once } from "./util/cache.ts";

export interface LateRouter {
  /** Routes for every path below the prefixes that no other route serves: they pass the request on to the late routes. */
  readonly fallback: AnyElysia;
  /** Lists the parts: each function builds the app of one, at its first call. */
  apps(): Promise<readonly (() => Promise<AnyElysia>)[]>;
}

export interface LateRouterOptions {
  /** The starts of the paths of late routes. Default: `/api/` alone. */
  prefixes?: readonly string[];
  /**
   * Says which part has which routes. A route that it lacks, or has in the wrong place, is found by building all parts, which takes a
   * tenth of a second and more. Default: it is not known.
   */
  places?: (() => Promise<LatePlaces | undefined>) | undefined;
}

/**
 * Does nothing until the first request for a late route.
 * @param parts lists all parts, in the order of their plugins
 * @param errors the plugin that turns errors into responses, as on the surface itself
 */
export function createLateRouter(
  surfaceName: "web" | "backend",
  parts: () => readonly LatePart[],
  errors: AnyElysia,
  { prefixes = ["/api/"], places }: LateRouterOptions = {},
): LateRouter {
  const appOf = (name: string): AnyElysia =>
    // The same options as the surface's own app.
    new Elysia({ name: `late.${surfaceName}.${name}`, normalize: true, handler: { standardHostname: false } }).use(
      errors,
    );
  const apps = once(async () => {
    const { createLateApps } = await import("./late-apps.ts");
    return createLateApps(parts(), appOf, (await places?.()) ?? {});
  });

  // Routers look at routes for any method last, and at wildcards last among those: so this one hides no other route.
  const fallback: AnyElysia = new Elysia({ name: `late.${surfaceName}.fallback` });
  for (const prefix of new Set(prefixes)) {
    fallback.all(`${prefix}*`, async ({ request }) => (await (await apps()).appFor(request)).handle(request), {
      detail: { hide: true },
    });
  }
  return { fallback, apps: async () => (await apps()).all };
}
