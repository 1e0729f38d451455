// Reads responses of the backend for the web surface: as typed data, as JSON, or passed on unchanged.
import { AppError } from "../../errors.ts";

/** Returns the data of a typed response. Throws its error with the backend's status, code and message. */
export function unwrap<Data>(response: {
  data: Data;
  error: null | { status: unknown; value: unknown };
}): NonNullable<Data> {
  if (response.error === null && response.data !== null && response.data !== undefined) return response.data;
  throw toAppError(Number(response.error?.status ?? 502), response.error?.value);
}

/** Returns the JSON of a plain response. Throws its error likewise. */
export async function unwrapJson(response: Response): Promise<unknown> {
  const body: unknown = await response.json().catch(() => undefined);
  if (response.ok && body !== undefined && body !== null) return body;
  throw toAppError(response.ok ? 502 : response.status, body);
}

/** Copies status, type and body of a plain response, for the web surface to pass on. */
export const forwardResponse = ({ status, headers, body }: Response) =>
  new Response(body, {
    status,
    headers: { "content-type": headers.get("content-type") ?? "application/json;charset=utf-8" },
  });

/**
 * Encodes a caller's text as one segment of a path. Throws 404 for the segments "." and "..", which URL parsers resolve
 * even when they are encoded (WHATWG URL, "dot segment").
 */
export function encodePathSegment(text: string): string {
  if (/^(?:\.|%2e){1,2}$/i.test(text)) throw new AppError(404, "NOT_FOUND", "There is nothing of this name.");
  return encodeURIComponent(text);
}

function toAppError(status: number, body: unknown): AppError {
  if (typeof body !== "object" || body === null || !("code" in body) || !("error" in body)) {
    return new AppError(502, "BACKEND_UNAVAILABLE", "The agent backend gave no usable answer. Try again shortly.");
  }
  const { code, error, ...extras } = body;
  return new AppError(status, String(code), String(error), extras);
}
