// Turns every thrown value into what a caller may see: an AppError's public part, and a general text for anything else.
import { GuardFailed, isForeignKeyViolation, isUniqueViolation } from "./database/errors.ts";
import { AppError } from "./errors.ts";

/**
 * Translates the database errors of a request that lost a race against another one: 404 `NOT_FOUND` if a row it refers to
 * was deleted after it was authenticated, and 409 `CONFLICT` if a condition of its write no longer held or its row exists
 * by now. Services that know more throw their own AppError instead. Anything else is returned unchanged.
 */
export function toPublicError(error: unknown): unknown {
  if (error instanceof AppError) return error;
  if (isForeignKeyViolation(error)) {
    return new AppError(404, "NOT_FOUND", "What this request refers to was deleted meanwhile.", {}, { cause: error });
  }
  if (error instanceof GuardFailed || isUniqueViolation(error)) {
    const text = "Another request changed this meanwhile. Read it again, then repeat your change.";
    return new AppError(409, "CONFLICT", text, {}, { cause: error });
  }
  return error;
}

/** Returns the public status and body for any thrown value. What `toPublicError` does not know becomes a 500 without details. */
export function errorBody(thrown: unknown): { status: number; body: Record<string, unknown> } {
  const error = toPublicError(thrown);
  if (error instanceof AppError) {
    return {
      status: error.status,
      body: { error: error.message, message: error.message, code: error.code, ...error.extras },
    };
  }
  const text = "Something went wrong on our side. The request id is in the x-request-id header.";
  return { status: 500, body: { error: text, message: text, code: "INTERNAL" } };
}
