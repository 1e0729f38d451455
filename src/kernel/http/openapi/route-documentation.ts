// What guards and routes tell the OpenAPI document beside their schemas, inside `detail`.

import type { TSchema } from "elysia";

/** How a caller shows who it is. */
export type SecurityScheme = "session" | "apiKey" | "serviceToken" | "metricsToken";

/** Codes by status, as `detail` carries them until the document is made. */
export interface DocumentedErrors {
  "x-errors": Record<string, string[]>;
}

/**
 * The error codes of one route beyond those that follow from its guard and its method.
 *
 * @example detail: { tags, summary, ...mayAnswer({ 402: "SUBSCRIPTION_REQUIRED" }) }
 */
export function documentErrors(codes: Record<number, string | string[]>): DocumentedErrors {
  return {
    "x-errors": Object.fromEntries(Object.entries(codes).map(([status, errorCodes]) => [status, [errorCodes].flat()])),
  };
}

/** For the macro of a guard: any one of `schemes` lets a caller in (none: anyone may call), and what it refuses with. */
export function documentGuard(schemes: SecurityScheme[], codes: Record<number, string | string[]> = {}) {
  const refusals = schemes.length > 0 ? { 401: "UNAUTHORIZED", ...codes } : codes;
  return { security: schemes.map((scheme) => ({ [scheme]: [] })), ...documentErrors(refusals) };
}

/** A 200 that is told but not checked on its way out, for answers that are passed on as they are or have many shapes. */
export const documentResponse = (schema: TSchema, description: string) => ({
  responses: { 200: { description, content: { "application/json": { schema } } } },
});
