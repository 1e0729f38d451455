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

/** A tree, as JSON has it, that leads from a method and path to the name of the part with this route. */
export type LatePlaces = Memoirist<string>["root"];

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
  const built = new Map(parts.map(({ name, make }) => [name, once(async () => appOf(name).use(await make()))]));
  const compiledFor = createCompiler();
  const nothing = once(async () => appOf("nothing"));
  const known = new Memoirist<string>();
  known.root = places;
  /** Builds all parts. */
  const whole = once(async () => {
    const router = new Memoirist<string>();
    for (const [name, build] of built) {
      addRoutes(router, name, await build());
      // All at once would hold up other requests.
      await yieldToEventLoop();
    }
    return router;
  });
  const build = async (name: string | undefined) => (name === undefined ? undefined : await built.get(name)?.());

  async function appFor({ method, url }: Request): Promise<AnyElysia> {
    const path = new URL(url).pathname;
    const supposed = await build(find(known, method, path));
    if (supposed && routeOf(supposed, method, path)) return compiledFor(supposed, method, path);
    const found = await build(find(await whole(), method, path));
    return found ? compiledFor(found, method, path) : nothing();
  }
  return { all: [...built.values()], appFor };
}

/** What compiles a route, and what it is known by. */
interface Route {
  key: object;
  compile(): void;
}

/** Elysia keeps paths without parameters outside of its router, and serves them with a slash at the end, too. */
function routeOf({ router }: AnyElysia, method: string, path: string): Route | undefined {
  const methods: Readonly<Record<string, number>> | undefined =
    router.static[path] ?? router.static[path.replace(/\/$/, "")];
  const index = methods?.[method] ?? methods?.ALL ?? (method === "HEAD" ? methods?.GET : undefined);
  const fixed = index === undefined ? undefined : router.history[index];
  if (fixed) return { key: fixed, compile: () => void fixed.compile() };
  const found = find(router.http, method, path);
  return found && { key: found, compile: () => void found.compile() };
}

/**
 * Makes a function that compiles what serves a request, which Elysia would do in one go with the first one: the app's entrance and the
 * route take milliseconds each, and other requests run between them.
 */
function createCompiler() {
  const compiled = new WeakSet<object>();
  async function compileOnce(key: object, compile: () => void): Promise<void> {
    if (compiled.has(key)) return;
    compiled.add(key);
    await yieldToEventLoop();
    compile();
    await yieldToEventLoop();
  }
  return async (app: AnyElysia, method: string, path: string): Promise<AnyElysia> => {
    await compileOnce(app, () => void app.compile());
    const route = routeOf(app, method, path);
    if (route) await compileOnce(route.key, route.compile);
    return app;
  };
}

/** Returns where the routes of these parts are. Builds all of them. */
export async function listLatePlaces(parts: readonly LatePart[]): Promise<LatePlaces> {
  const router = new Memoirist<string>();
  for (const { name, make } of parts) addRoutes(router, name, await make());
  return router.root;
}

/** Adds the routes of a part as the router of Elysia has them: with and without a slash at the end. */
function addRoutes(router: Memoirist<string>, name: string, { routes }: AnyElysia): void {
  for (const { method, path } of routes) {
    router.add(method, path, name);
    router.add(method, path.endsWith("/") ? path.slice(0, -1) : `${path}/`, name);
  }
}

/** Finds what a request leads to as Elysia does: routes for any method come after the others, and HEAD is also that of GET. */
function find<T>(router: Memoirist<T>, method: string, path: string): T | undefined {
  const found = router.find(method, path) ?? router.find("ALL", path);
  return (found ?? (method === "HEAD" ? router.find("GET", path) : undefined))?.store;
}
