// Sends a request of the web surface on to the backend, and the backend's response back to the caller.
import { contextOf } from "../request-context.ts";
import { forwardResponse } from "./backend-response.ts";
import type { BackendTransport } from "./backend-transport.ts";
import type { Grant } from "./service-tokens.ts";

export interface ForwardOptions {
  /** Aborts the backend call. Without it, the call continues after the client disconnects, so that a write completes. */
  signal?: AbortSignal;
  /** Names of the request's headers that are passed on beside the body's length; its type is JSON unless it is named here. */
  requestHeaders?: readonly string[];
  /** Names of the response's headers that are passed on beside its content type. */
  responseHeaders?: (response: Response) => readonly string[];
}

/**
 * Calls the backend's route at `path` with the request's method under this grant, and returns the status and body that
 * it answers with. The JSON body is passed on byte for byte, since the backend checks and stores it as it came. Throws
 * 502 `BACKEND_UNAVAILABLE`.
 */
export async function forwardToBackend(
  backend: Pick<BackendTransport, "fetch">,
  grant: Grant,
  request: Request,
  path: string,
  { signal, requestHeaders = [], responseHeaders = () => [] }: ForwardOptions = {},
): Promise<Response> {
  const { method } = request;
  const hasBody = method !== "GET" && method !== "DELETE";
  const { bodyBytes, bodyText = "" } = contextOf(request);
  const body = bodyBytes ?? bodyText;
  const given = requestHeaders.map((name) => [name, request.headers.get(name)] as const);
  const headers = Object.fromEntries(given.flatMap(([name, value]) => (value === null ? [] : [[name, value]])));
  const json = requestHeaders.includes("content-type") ? {} : { "content-type": "application/json" };
  const response = await backend.fetch(grant, path, {
    method,
    ...(signal && { signal }),
    headers: hasBody
      ? // Within one process no HTTP client declares the length, and an import of unknown length counts as a large one.
        { ...headers, ...json, "content-length": String(Buffer.byteLength(body)) }
      : headers,
    ...(hasBody && { body }),
  });
  const forwarded = forwardResponse(response);
  for (const name of responseHeaders(response)) {
    const value = response.headers.get(name);
    if (value !== null) forwarded.headers.set(name, value);
  }
  return forwarded;
}
