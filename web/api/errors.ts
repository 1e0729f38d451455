// The ways in which a request fails: the server refused it, could not be reached, or is of another build than the page.

/** The server's answer with an error status. `message` is a sentence for people. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    /** The whole body: `issues` of validation, `current` and `limit`, and the like. */
    readonly body: Readonly<Record<string, unknown>>,
    /** Seconds after which to try again, for 429 and 503. */
    readonly retryAfter: number | undefined,
  ) {
    super(message);
  }

  /** The message for the field at this path of the body, such as `config.model`. */
  issueAt(path: string): string | undefined {
    return this.issues.find((issue) => issue.path === path)?.message;
  }

  get issues(): { path: string; message: string }[] {
    const { issues } = this.body;
    return Array.isArray(issues) ? issues.filter(isIssue) : [];
  }
}

export const isIssue = (value: unknown): value is { path: string; message: string } =>
  typeof value === "object" && value !== null && "path" in value && "message" in value;

/** The server's message for the field at this path of the body, if it refused that. */
export const issueAt = (error: unknown, path: string): string | undefined =>
  error instanceof ApiError ? error.issueAt(path) : undefined;

/** The server's message, if it refused the request with one of these codes. */
export const messageFor = (error: unknown, ...codes: string[]): string | undefined =>
  error instanceof ApiError && codes.includes(error.code) ? error.message : undefined;

/** The request did not reach the server, or no answer came back. */
export class UnreachableError extends Error {
  override readonly name = "UnreachableError";
}

/** The server has another build of the console, without the code that this page asked for. */
export class OutdatedError extends Error {
  override readonly name: string = "OutdatedError";
}

/** A file of the code did not come, and the browser does not ask for it again before the page is loaded anew. */
export class IncompleteError extends OutdatedError {
  override readonly name = "IncompleteError";
  constructor(
    message: string,
    readonly file: string,
  ) {
    super(message);
  }
}
