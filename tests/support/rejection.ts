// Returns the error that a promise rejects with, for tests that look at its fields.

import { expect } from "bun:test";
import { AppError, StartError } from "../../src/kernel/errors.ts";

/** An error; `status` and `code` are those of an `AppError` or a library's error. */
export type Rejection = Error & { status?: unknown; code?: unknown };

/** Resolves with the rejection of `promise`; throws if it was fulfilled, or rejected without an `Error`. */
export async function rejectionOf(promise: Promise<unknown>): Promise<Rejection> {
  const outcome = await promise.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  if (!("error" in outcome)) throw new Error(`Expected a rejection, got ${Bun.inspect(outcome.value)}.`);
  if (outcome.error instanceof Error) return outcome.error;
  throw new Error(`Expected an Error, got ${Bun.inspect(outcome.error)}.`);
}

/** Resolves with the `AppError` that `promise` rejects with; throws any other error. */
export async function appErrorOf(promise: Promise<unknown>): Promise<AppError> {
  const error = await rejectionOf(promise);
  if (!(error instanceof AppError)) throw error;
  return error;
}

/** Resolves with the message of the `StartError` that `promise` rejects with, which must be one line. */
export async function startErrorOf(promise: Promise<unknown>): Promise<string> {
  const error = await rejectionOf(promise);
  expect(error).toBeInstanceOf(StartError);
  expect(error.message).not.toContain("\n");
  return error.message;
}
