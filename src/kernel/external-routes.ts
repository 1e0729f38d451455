// Checks the routes of third-party plugins at the start: each names a guard, none has an option that has no effect, and none
// replaces a route that exists.
import type { AnyElysia } from "elysia";
import { StartError } from "./errors.ts";
import { hasGuard } from "./http/route-guards.ts";
import type { BuiltPlugin } from "./plugin-host.ts";

type SurfaceName = "web" | "backend";

/** As Elysia lists it in `routes`. */
interface ListedRoute {
  method: string;
  path: string;
  hooks?: Readonly<Record<string, unknown>>;
}

interface RouteTable {
  /** As in a sentence: "the plugin tides". */
  owner: string;
  early: readonly ListedRoute[];
  /** Built at the first request for one of them. Each early route that matches their paths wins. */
  late: readonly ListedRoute[];
}

/** What a route may have beside the options of guards, which are gone once Elysia has applied them (`LocalHook`, 1.4). */
const OPTIONS = new Set(
  (
    "body query params headers cookie response detail tags type config parse transform beforeHandle afterHandle mapResponse " +
    "afterResponse resolve derive error trace standaloneSchema standaloneValidator websocket introspect"
  ).split(" "),
);

/**
 * Checks the routes of `external` plugins on one surface, in order, against those of the surface itself, of the `builtIn` ones, and
 * each other. It makes their late routes. Throws StartError, which names the plugin and the route.
 */
export async function requireSoundRoutes(
  surfaceName: SurfaceName,
  {
    own,
    builtIn,
    external,
  }: { own: readonly AnyElysia[]; builtIn: readonly BuiltPlugin[]; external: readonly BuiltPlugin[] },
): Promise<void> {
  const before: RouteTable[] = [{ owner: "Berth", early: own.flatMap(routesOf), late: [] }];
  for (const one of builtIn) before.push(await tableOf(one, surfaceName, "the built-in plugin"));
  for (const one of external) {
    const table = await tableOf(one, surfaceName, "the plugin");
    for (const route of [...table.early, ...table.late]) {
      const problem = problemOf(route, before);
      if (problem)
        throw new StartError(`The plugin ${one.name} can't be set up: its route ${nameOf(route)} ${problem}`);
    }
    before.push(table);
  }
}

const routesOf = (app: AnyElysia | undefined): ListedRoute[] => app?.routes ?? [];

async function tableOf({ name, parts }: BuiltPlugin, surfaceName: SurfaceName, kind: string): Promise<RouteTable> {
  const late = await Promise.all((parts.lateRoutes?.[surfaceName] ?? []).map((make) => make()));
  return { owner: `${kind} ${name}`, early: routesOf(parts[surfaceName]), late: late.flatMap(routesOf) };
}

/** What is wrong with the route, as the end of a sentence. */
function problemOf(route: ListedRoute, before: readonly RouteTable[]): string | undefined {
  const { hooks = {} } = route;
  const option = Object.keys(hooks).find((name) => !OPTIONS.has(name));
  if (option !== undefined)
    return `has the option ${option}, which neither Elysia nor a guard in use knows. Correct its name.`;
  if (!hasGuard(hooks))
    return 'names no guard, so anybody could call it. Give it one, such as signedIn: "read", or open: true for all.';
  for (const { owner, early, late } of before) {
    const replaced = early.find((other) => isSamePlace(route, other)) ?? late.find((other) => wouldServe(route, other));
    if (replaced) return `would replace ${nameOf(replaced)} of ${owner}. Choose another path.`;
  }
  return undefined;
}

const nameOf = ({ method, path }: ListedRoute) => `${method} ${path}`;
const segmentsOf = (path: string) => path.replace(/\/$/, "").split("/");
const isParameter = (segment: string) => segment.startsWith(":");

const meets = (one: ListedRoute, other: ListedRoute) =>
  one.method === other.method || one.method === "ALL" || other.method === "ALL";

/** Whether both match exactly the same paths, whatever their parameters are called. */
function isSamePlace(one: ListedRoute, other: ListedRoute): boolean {
  const shapeOf = ({ path }: ListedRoute) =>
    segmentsOf(path)
      .map((segment) => (isParameter(segment) ? ":" : segment))
      .join("/");
  return meets(one, other) && shapeOf(one) === shapeOf(other);
}

/** Whether the first matches every path of the second. */
function wouldServe(one: ListedRoute, other: ListedRoute): boolean {
  if (!meets(one, other)) return false;
  const wanted = segmentsOf(other.path);
  const own = segmentsOf(one.path);
  const end = own.indexOf("*");
  if (end < 0 ? own.length !== wanted.length : wanted.length <= end) return false;
  return own.every((segment, index) => segment === "*" || isParameter(segment) || segment === wanted[index]);
}
