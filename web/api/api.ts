// Calls the API of the same origin. The session is a cookie that scripts can't read; the browser adds the origin by which
// the server refuses requests of other sites.

import { said, t } from "../viewer/language.ts";
import { look, noteAnswer } from "./connection.ts";
import { ApiError, isIssue, UnreachableError } from "./errors.ts";
import { recordRequest } from "./request-log.ts";
import { noteSessionEnd } from "./session-end.ts";
import { tellTabs } from "./tabs.ts";
import { whileWriting } from "./update.ts";

type Query = Readonly<Record<string, string | number | boolean | undefined>>;

export interface CallOptions {
  query?: Query;
  /** Sent as JSON; a FormData or Blob as it is. */
  body?: unknown;
  /** Makes a repeated POST safe: the server answers the first response again. */
  idempotencyKey?: string;
  signal?: AbortSignal;
  headers?: Readonly<Record<string, string>>;
}

const EVENT_STREAM = "text/event-stream";

type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** Texts for error codes in the viewer's language; the API's own are English. */
let errorTexts: Readonly<Record<string, string>> = {};
export const setErrorTexts = (texts: Readonly<Record<string, string>>): void => {
  errorTexts = texts;
};

/** Requests of a page that is being left must outlive it. */
let isLeaving = false;
addEventListener(
  "pagehide",
  () => {
    isLeaving = true;
  },
  { capture: true },
);
addEventListener("pageshow", () => {
  isLeaving = false;
});

/**
 * Sends a request and returns the JSON of the answer. Throws ApiError when the server refuses, UnreachableError when there
 * is no answer. A 401 asks the person to sign in again.
 */
export async function call<T>(method: Method, path: string, options: CallOptions = {}): Promise<T> {
  const response = await send(method, path, options);
  if (response.status === 204) return undefined as T;
  return (await response.json()) as T;
}

/** Like `call`, but returns the response, for streams and files. */
export async function send(method: Method, path: string, options: CallOptions = {}): Promise<Response> {
  const { query, body, idempotencyKey, signal, headers } = options;
  const url = withQuery(path, query);
  const isRaw = body instanceof FormData || body instanceof Blob;
  const hasJson = body !== undefined && !isRaw;
  const isStream = headers?.accept === EVENT_STREAM;
  recordRequest({
    ...{ method, url },
    ...(hasJson && { body }),
    ...(isRaw && { file: fileIn(body) }),
    ...(isStream && { stream: true as const }),
  });
  const init: RequestInit = {
    method,
    headers: {
      accept: "application/json",
      ...(hasJson && { "content-type": "application/json" }),
      ...(idempotencyKey && { "idempotency-key": idempotencyKey }),
      ...headers,
    },
    ...(body !== undefined && { body: isRaw ? body : JSON.stringify(body) }),
    ...(signal && { signal }),
    ...(isLeaving && { keepalive: true }),
  };
  let response: Response;
  try {
    response = await (method === "GET" ? fetch(url, init) : whileWriting(() => fetch(url, init)));
    noteAnswer();
  } catch (error) {
    if (signal?.aborted) throw error;
    void look();
    throw new UnreachableError(t("Berth can't be reached. Check your connection; nothing that was sent is lost."));
  }
  if (response.ok) {
    if (method !== "GET") tellTabs({ type: "changed" });
    return response;
  }
  throw await toApiError(response);
}

function fileIn(body: FormData | Blob): { type: string; field?: string } {
  if (body instanceof Blob) return { type: body.type };
  const [field = "file"] = [...body].find(([, value]) => typeof value !== "string") ?? [];
  return { type: "multipart/form-data", field };
}

async function toApiError(response: Response): Promise<ApiError> {
  const parsed: unknown = await response.json().catch(() => ({}));
  const body = typeof parsed === "object" && parsed !== null ? (parsed as Record<string, unknown>) : {};
  const code = typeof body.code === "string" ? body.code : "UNKNOWN";
  if (response.status === 401 && code === "UNAUTHORIZED") noteSessionEnd();
  const english = typeof body.error === "string" ? body.error : t("The server answered with an error.");
  const retryAfter = Number(response.headers.get("retry-after")) || undefined;
  return new ApiError(response.status, code, inWords(code, english), inViewersLanguage(body), retryAfter);
}

/** The sentence itself has the numbers and names; the text of its code is for sentences without a translation. */
function inWords(code: string, english: string): string {
  const translated = said(english);
  return translated === english ? (errorTexts[code] ?? english) : translated;
}

const inViewersLanguage = (body: Record<string, unknown>): Record<string, unknown> =>
  Array.isArray(body.issues) ? { ...body, issues: issuesIn(body.issues) } : body;

const issuesIn = (issues: unknown[]) =>
  issues.map((issue) => (isIssue(issue) ? { ...issue, message: said(issue.message) } : issue));

export function withQuery(path: string, query: Query = {}): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) params.set(name, String(value));
  return params.size === 0 ? path : `${path}?${params}`;
}

/** Makes a path of literal and encoded parts: path`/api/agents/${id}/logs`. */
export const path = (parts: TemplateStringsArray, ...ids: readonly (string | number)[]): string =>
  String.raw({ raw: parts }, ...ids.map((id) => encodeURIComponent(id)));

export const api = {
  get: <T>(path: string, query?: Query, signal?: AbortSignal) =>
    call<T>("GET", path, { ...(query && { query }), ...(signal && { signal }) }),
  post: <T>(path: string, body?: unknown, options?: CallOptions) => call<T>("POST", path, { ...options, body }),
  put: <T>(path: string, body?: unknown) => call<T>("PUT", path, { body }),
  patch: <T>(path: string, body?: unknown) => call<T>("PATCH", path, { body }),
  delete: <T>(path: string, body?: unknown) => call<T>("DELETE", path, { body }),
};
