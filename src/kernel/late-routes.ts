// Builds routes that few processes need at the first request for one of them, so that they take no time at the start and
// no memory until then.

import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { type AnyElysia, Elysia } from "elysia";
import { once } from "./util/cache.ts";

/** Makes the routes, once; may import the module that holds them. Called again if it failed. */
export type LateRoutes = () => Promise<AnyElysia> | AnyElysia;

export interface LateRouter {
  /** Routes for every path below the prefixes that no other route serves: they pass the request on to the late routes. */
  readonly fallback: AnyElysia;
  /** All late routes as one app, which is built by the first call. */
  build(): Promise<AnyElysia>;
}

/**
 * @param errors the plugin that turns errors into responses, as on the surface itself
 * @param prefixes the starts of the paths of late routes
 */
export function createLateRouter(
  surfaceName: "web" | "backend",
  late: readonly LateRoutes[],
  errors: AnyElysia,
  prefixes: readonly string[] = ["/api/"],
): LateRouter {
  const build = once(async () => {
    const parts = await Promise.all(late.map((make) => make()));
    // The same options as the surface's own app.
    const app: AnyElysia = new Elysia({
      name: `late.${surfaceName}`,
      normalize: true,
      handler: { standardHostname: false },
    });
    app.use(errors);
    for (const part of parts) {
      app.use(part);
      // All at once would hold up other requests.
      await yieldToEventLoop();
    }
    return app;
  });

  // Routers look at routes for any method last, and at wildcards last among those: so this one hides no other route.
  const fallback: AnyElysia = new Elysia({ name: `late.${surfaceName}.fallback` });
  for (const prefix of new Set(prefixes)) {
    fallback.all(`${prefix}*`, async ({ request }) => (await build()).handle(request), { detail: { hide: true } });
  }
  return { fallback, build };
}
