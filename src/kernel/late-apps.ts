// The apps of late routes, one for each part: a request builds only the one that serves it, where it is known which that is.

import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import type { AnyElysia } from "elysia";
import { Memoirist } from "memoirist";
import { once } from "./util/cache.ts";

/** Makes the routes, once; may import the module that holds them. Called again if it failed. */
export type LateRoutes = () => Promise<AnyElysia> | AnyElysia;

/** Late routes that are built together. */
export interface LatePart {
  /** Different from that of all other parts of the surface. */
  readonly name: string;
  readonly make: LateRoutes;
}

/** The routes of parts, each as its method and path, such as `GET /api/boats/:id`, by the names of the parts. */
export type LatePlaces = Readonly<Record<string, readonly string[]>>;

interface LateApps {
  /** Each builds the app of one part, at its first call. */
  readonly all: readonly (() => Promise<AnyElysia>)[];
  /** The app that serves a request: one without routes if no part has its route. */
  appFor(request: Request): Promise<AnyElysia>;
}

/** @param appOf makes an app without routes */
export function createLateApps(
  parts: readonly LatePart[],
  appOf: (name: string) => AnyElysia,
  places: LatePlaces,
): LateApps {
  const built = parts.map(({ name, make }) =>
    once(async () => {
      const app = appOf(name).use(await make());
      return { app, routes: createIndex([app.routes]) };
    }),
  );
  const nothing = once(async () => appOf("nothing"));
  /** Which part has a route, as far as it is known without building any. */
  const known = createIndex(parts.map(({ name }) => (places[name] ?? []).map(parseRoute)));
  /** Which part has a route. Builds all of them. */
  const whole = once(async () => {
    const routes: AnyElysia["routes"][] = [];
    for (const build of built) {
      routes.push((await build()).app.routes);
      // All at once would hold up other requests.
      await yieldToEventLoop();
    }
    return createIndex(routes);
  });

  async function appFor({ method, url }: Request): Promise<AnyElysia> {
    const path = new URL(url).pathname;
    const supposed = await built[known(method, path)]?.();
    if (supposed && supposed.routes(method, path) >= 0) return supposed.app;
    const found = await built[(await whole())(method, path)]?.();
    return found ? found.app : await nothing();
  }
  return { all: built.map((build) => async () => (await build()).app), appFor };
}

type Route = Pick<AnyElysia["routes"][number], "method" | "path">;

function parseRoute(text: string): Route {
  const [method = "", path = ""] = text.split(" ");
  return { method, path };
}

/** Returns a function that finds in which of the lists a request's route is: its index, or -1. It decides as the router of Elysia does. */
function createIndex(lists: readonly (readonly Route[])[]): (method: string, path: string) => number {
  const router = new Memoirist<number>();
  for (const [index, routes] of lists.entries()) {
    for (const { method, path } of routes) {
      router.add(method, path, index);
      router.add(method, path.endsWith("/") ? path.slice(0, -1) : `${path}/`, index);
    }
  }
  return (method, path) => {
    const found = router.find(method, path) ?? router.find("ALL", path);
    if (found) return found.store;
    return (method === "HEAD" ? router.find("GET", path)?.store : undefined) ?? -1;
  };
}
