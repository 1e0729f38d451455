// Makes the hooks of route macros: guards authorize the caller before the body is read, and again if the body was slow.
import { Elysia } from "elysia";
import { invalidInput } from "../errors.ts";
import { createIgnoredFieldFinder } from "./body/ignored-fields.ts";
import { readFileBody, readJsonBody, readRawBody, requireJsonType } from "./body/json-body.ts";
import { operationIdOf } from "./openapi/operation-id.ts";
import { documentGuard } from "./openapi/route-documentation.ts";
import { contextOf } from "./request-context.ts";

/** If the body took longer than this to arrive (milliseconds), the guards run again. */
const SLOW_BODY_MS = 250;

/** One check before the body is read; throws an AppError to refuse the request. */
export type RouteGuard = (context: { request: Request; params: Record<string, string> }) => Promise<void> | void;

type HookContext = { request: Request; params: unknown; route: string };

/** The hooks that `guarded` and its like have made. */
const guardHooks = new WeakSet<object>();

/** Whether a route, with these hooks in Elysia's `routes`, has a guard. */
export function hasGuard({ transform }: { readonly transform?: unknown }): boolean {
  const hooks: unknown[] = [transform].flat();
  return hooks.some((hook) => {
    const made: unknown = typeof hook === "object" && hook !== null ? Reflect.get(hook, "fn") : hook;
    return typeof made === "function" && guardHooks.has(made);
  });
}

/**
 * Hooks for a route macro: the guards run in order, before the body is read and before anything is validated,
 * so that an unauthorized caller learns nothing about the rules for the body.
 */
export const guarded = (...guards: RouteGuard[]) => guardedReading(readJsonBody, guards);

/** As `guarded`, for a route that parses the body itself: its bytes are in the request's context. */
export const guardedRaw = (...guards: RouteGuard[]) => guardedReading(readRawBody, guards);

/** As `guardedRaw`, for a body of any type: the last guard sets `maxBodyBytes`. */
export const guardedFile = (...guards: RouteGuard[]) => guardedReading(readFileBody, guards, () => undefined);

function guardedReading(
  readBody: (context: { request: Request }) => Promise<unknown>,
  guards: readonly RouteGuard[],
  requireType = requireJsonType,
) {
  let findIgnoredFields: ReturnType<typeof createIgnoredFieldFinder>;
  let operation: string | undefined;
  const runGuards = async ({ request, params, route }: HookContext) => {
    const context = contextOf(request);
    operation ??= operationIdOf(request.method.toLowerCase(), route.replace(/:(\w+)\??/g, "{$1}"));
    context.operation = operation;
    if (context.authorizedBy === runGuards) return;
    const pathParams = (params ?? {}) as Record<string, string>;
    for (const guard of guards) await guard({ request, params: pathParams });
    requireReadableParams(pathParams);
    requireType(request);
    context.authorizedBy = runGuards;
  };
  guardHooks.add(runGuards);
  // The fields are passed one by one: Elysia reads this function's source, and for a context that is passed on as a
  // whole it would parse cookies, query and headers.
  const readAndRecheck = async ({ request, params, route }: HookContext) => {
    const startedAt = performance.now();
    const body = await readBody({ request });
    const ignored = findIgnoredFields?.(body);
    if (ignored) contextOf(request).ignoredFields = ignored;
    if (performance.now() - startedAt > SLOW_BODY_MS) {
      // The caller may have been signed out while the body arrived.
      const context = contextOf(request);
      context.guardRound = (context.guardRound ?? 0) + 1;
      context.authorizedBy = undefined;
      await runGuards({ request, params, route });
    }
    return body;
  };
  const hooks = { parse: [runGuards, readAndRecheck], transform: runGuards };
  // Elysia runs `introspect` when it adds the route. Its type would hide what the macros give to handlers.
  const introspect = (route: { detail?: Record<string, unknown>; body?: unknown; response?: unknown }) => {
    ownDetail(route);
    const named = route.detail?.operationId;
    if (typeof named === "string") operation = named;
    findIgnoredFields = createIgnoredFieldFinder(route.body, route.response);
  };
  const withDetail: typeof hooks = Object.assign({ introspect }, hooks);
  return withDetail;
}

/**
 * Gives the route a copy of its documentation, to which Elysia adds that of the guard. Otherwise routes of both surfaces that
 * share an object would each document the guards of the other too.
 */
function ownDetail(route: { detail?: Record<string, unknown> }): void {
  const { detail } = route;
  if (detail === undefined) return;
  const errors = detail["x-errors"];
  route.detail = typeof errors === "object" ? { ...detail, "x-errors": { ...errors } } : { ...detail };
}

/** Throws 400 if a parameter of the path, such as `%FF`, is no percent-encoded UTF-8: the router gives null for it. */
function requireReadableParams(params: Readonly<Record<string, unknown>>): void {
  for (const name in params) {
    if (params[name] === null) throw invalidInput({ path: name, message: "Encode this part of the path as UTF-8." });
  }
}

/** For routes that anyone may call: `open: true`. */
export const openRoutes = new Elysia({ name: "open-routes" }).macro({
  open: (_: true) => ({ ...guarded(), detail: documentGuard([]) }),
});
