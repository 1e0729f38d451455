// Two kinds of errors: the service refused a request (BerthError), or it could not be reached (ConnectionError).

/** One problem of the input: its path in the body or query, and how to correct it. */
export interface Issue {
  path: string;
  message: string;
}

/** The service refused a request, or could not do what it asks. Correct the request by `code`, `message` and `issues`. */
export class BerthError extends Error {
  override readonly name = "BerthError";
  constructor(
    /** The HTTP status. */
    readonly status: number,
    /** `UPPER_SNAKE`, stable, for programs, such as `AGENT_NOT_FOUND`. */
    readonly code: string,
    message: string,
    /** What is wrong with the input, and where. Empty for other errors. */
    readonly issues: readonly Issue[] = [],
    /** Names the request in the service's log. Undefined for an error that came within a stream. */
    readonly requestId?: string,
    /** Milliseconds to wait before the next try, if the service names them. */
    readonly retryAfterMs?: number,
  ) {
    super(message);
  }
}

/** No answer came: the address is wrong, the network is down, or the service stopped. `cause` is the platform's error. */
export class ConnectionError extends Error {
  override readonly name = "ConnectionError";
}

/** Makes the error of a response. Its body is the service's, or that of a proxy before it. */
export async function errorOf(response: Response): Promise<BerthError> {
  const { status, headers } = response;
  const text = await response.text().catch(() => "");
  let body: Record<string, unknown> = {};
  try {
    body = Object(JSON.parse(text));
  } catch {
    // A proxy's page.
  }
  return toError(status, body, headers.get("x-request-id") ?? undefined, retryAfterOf(headers));
}

export function toError(
  status: number,
  { code, message, error, error_description: description, issues }: Record<string, unknown>,
  requestId?: string,
  retryAfterMs?: number,
): BerthError {
  const texts = [message, description, error].filter((one) => typeof one === "string");
  // Endpoints of OAuth name the error in `error`.
  const name = typeof code === "string" ? code : typeof error === "string" && description ? error.toUpperCase() : "";
  return new BerthError(
    status,
    name || `HTTP_${status}`,
    texts[0] ?? `The service answered ${status}.`,
    Array.isArray(issues) ? issues : [],
    requestId,
    retryAfterMs,
  );
}

/** Retry-After in milliseconds: seconds or a date (RFC 9110 §10.2.3). */
function retryAfterOf(headers: Headers): number | undefined {
  const text = headers.get("retry-after");
  if (!text) return undefined;
  const ms = /^\d+$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - Date.now();
  return ms >= 0 ? ms : undefined;
}
