// Adds facts to a route's `detail` that the OpenAPI document shows beside its schemas: errors and security schemes.

import type { TSchema } from "elysia";

/** Error codes by status; `detail` carries them until the document is made. */
export interface DocumentedErrors {
  "x-errors": Record<string, string[]>;
}

/**
 * Documents the error codes of one route beyond those that follow from its guard and its method.
 *
 * @example detail: { tags, summary, ...documentErrors({ 402: "SUBSCRIPTION_REQUIRED" }) }
 */
export function documentErrors(codes: Record<number, string | string[]>): DocumentedErrors {
  return {
    "x-errors": Object.fromEntries(Object.entries(codes).map(([status, errorCodes]) => [status, [errorCodes].flat()])),
  };
}

/**
 * Documents the macro of a guard: any one of `schemes` (names of `PluginParts.securitySchemes`) authorizes a caller;
 * without one, anyone may call. `codes` are the errors of the guard beside 401, `ofChanges` those for methods that change
 * something alone.
 */
export function documentGuard(
  schemes: string[],
  codes: Record<number, string | string[]> = {},
  ofChanges: Record<number, string> = {},
) {
  const refusals = schemes.length > 0 ? { 401: "UNAUTHORIZED", ...codes } : codes;
  return {
    security: schemes.map((scheme) => ({ [scheme]: [] })),
    ...documentErrors(refusals),
    "x-errors-of-changes": documentErrors(ofChanges)["x-errors"],
  };
}

/** Documents a 200 response without validating it, for responses that are passed on or have many shapes. */
export const documentResponse = (schema: TSchema, description: string) => ({
  responses: { 200: { description, content: { "application/json": { schema } } } },
});

/** Documents a JSON body without validating it, for bodies that are passed on to a route that does. */
export const documentRequestBody = (schema: TSchema) => ({
  requestBody: { content: { "application/json": { schema } } },
});

/** Marks a route as deprecated, in favour of another one that does the same. The route goes on working. */
export const documentDeprecated = <Detail extends { description: string }>(detail: Detail, replacement: string) => ({
  ...detail,
  deprecated: true,
  description: `${detail.description} Deprecated: use \`${replacement}\`, which does the same for the agent of this id.`,
});
