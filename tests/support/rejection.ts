// The error that a promise rejects with, for tests that look at its fields.

/** Resolves with the rejection of `promise`; throws when it was fulfilled. */
export async function rejectionOf(promise: Promise<unknown>): Promise<Error> {
  const outcome = await promise.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  if (!("error" in outcome)) throw new Error(`Expected a rejection, got ${Bun.inspect(outcome.value)}.`);
  if (outcome.error instanceof Error) return outcome.error;
  throw new Error(`Expected an Error, got ${Bun.inspect(outcome.error)}.`);
}
