// What can go wrong, in two halves: a public sentence with a code, and a private cause that never leaves the log.

/** Extra fields the interface puts beside the error text (`current`, `limit`, `success`, …). */
export type ErrorExtras = Readonly<Record<string, unknown>>;

/**
 * An error that a caller may see. `message`, `code` and `extras` are public; `cause` is for the log alone.
 * Services throw it; only the HTTP layer turns it into a response.
 */
export class AppError extends Error {
  override readonly name = "AppError";

  constructor(
    /** HTTP status. */
    readonly status: number,
    /** `UPPER_SNAKE`, stable, for programs. */
    readonly code: string,
    message: string,
    readonly extras: ErrorExtras = {},
    options?: { cause?: unknown; headers?: Readonly<Record<string, string>> },
  ) {
    super(message, options);
    this.headers = options?.headers ?? {};
  }

  /** Response headers that belong to this error, such as `retry-after`. */
  readonly headers: Readonly<Record<string, string>>;
}

/** One thing wrong with the input: where, and what to do about it. */
export interface Issue {
  path: string;
  message: string;
}

/** 400 with the list of what is wrong; the first issue is also the sentence. */
export function invalidInput(issues: Issue | Issue[], code = "INVALID_INPUT"): AppError {
  const list = Array.isArray(issues) ? issues : [issues];
  const first = list[0];
  const text = first ? (first.path ? `${first.path}: ${first.message}` : first.message) : "The input is not valid.";
  return new AppError(400, code, text, { issues: list });
}

/** 401: nobody is signed in, or what was shown is not valid (any more). */
export const unauthorized = (message = "Sign in first: no valid session or API key came with this request.") =>
  new AppError(401, "UNAUTHORIZED", message);

/** 403. */
export const forbidden = (code: string, message: string, extras?: ErrorExtras) =>
  new AppError(403, code, message, extras);

/** 404. The same for what does not exist and for what is not the caller's. */
export const notFound = (message = "Not found.", code = "NOT_FOUND") => new AppError(404, code, message);

/** The public body of any thrown value. What is not an AppError is a 500 that tells nothing. */
export function errorBody(error: unknown): { status: number; body: Record<string, unknown> } {
  if (error instanceof AppError) {
    return {
      status: error.status,
      body: { error: error.message, message: error.message, code: error.code, ...error.extras },
    };
  }
  const text = "Something went wrong on our side. The request id is in the x-request-id header.";
  return { status: 500, body: { error: text, message: text, code: "INTERNAL" } };
}

/** Berth can't start. The message is one line that says why and what to do; nothing was changed. */
export class StartError extends Error {
  override readonly name = "StartError";
}
