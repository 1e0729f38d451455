// Errors with a public part (status, code, message) and a private cause that only the log shows.

/** Further fields of an error's JSON body, such as `current` or `limit`. */
export type ErrorExtras = Readonly<Record<string, unknown>>;

/**
 * An error that a caller may see. `message`, `code` and `extras` are public; `cause` only goes to the log.
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

/** One problem of the input: its path in the body or query, and how to correct it. */
export interface Issue {
  path: string;
  message: string;
}

/** 400 with a list of issues; the first one is also the message. */
export function invalidInput(issues: Issue | Issue[], code = "INVALID_INPUT"): AppError {
  const list = Array.isArray(issues) ? issues : [issues];
  const first = list[0];
  const text = first ? (first.path ? `${first.path}: ${first.message}` : first.message) : "The input is not valid.";
  return new AppError(400, code, text, { issues: list });
}

/** 401: no credential came with the request, or it is not valid. */
export const unauthorized = (message = "Sign in first: no valid session or API key came with this request.") =>
  new AppError(401, "UNAUTHORIZED", message);

export const forbidden = (code: string, message: string, extras?: ErrorExtras) =>
  new AppError(403, code, message, extras);

/** 404, both for a resource that does not exist and for one of another user. */
export const notFound = (message = "Not found.", code = "NOT_FOUND") => new AppError(404, code, message);

/** The service can't start. The message is one line with the reason and a remedy; nothing was changed. */
export class StartError extends Error {
  override readonly name = "StartError";
}
