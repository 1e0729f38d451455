// Sends requests: credentials, idempotency keys, time-outs, and retries of what did not reach the service or was refused for now.
import { BerthError, ConnectionError, errorOf } from "./errors.ts";

export interface ClientOptions {
  /** The address of the service, such as `https://berth.example.com`. In a page of the service itself it may be left out. */
  url?: string;
  /** An API key (`bk_…`). Without one, `signIn` begins a session. */
  key?: string | undefined;
  /** How often a request is tried again. Default 4. */
  retries?: number;
  /** How long one try may take until its answer is complete, in milliseconds; streams have no such limit. Default 60,000. */
  timeoutMs?: number;
  /** In place of the platform's `fetch`. */
  fetch?: (url: string, init: RequestInit) => Promise<Response>;
}

export interface RequestOptions {
  /** Values that are undefined are left out. */
  query?: Record<string, string | number | undefined> | undefined;
  /** Sent as JSON, unless it is `FormData`, `URLSearchParams` or bytes. */
  body?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal | undefined;
  /** The same key never does the same work twice. Default: a new one for each POST. */
  idempotencyKey?: string | undefined;
}

export type Http = ReturnType<typeof createHttp>;

const FIRST_DELAY_MS = 250;
const LONGEST_DELAY_MS = 8_000;
/** A longer wait is the caller's decision: the error is thrown, with `retryAfterMs`. */
const LONGEST_RETRY_AFTER_MS = 30_000;

export function createHttp(options: ClientOptions) {
  const { key, retries = 4, timeoutMs = 60_000, fetch = (url, init) => globalThis.fetch(url, init) } = options;
  const page = (globalThis as { location?: { origin?: string } }).location?.origin;
  const base = (options.url ?? page ?? "").replace(/\/+$/, "");
  if (!/^https?:\/\//.test(base))
    throw new TypeError("createClient needs the service's url, such as https://berth.example.com.");
  /** The session, where no browser keeps it. */
  let cookie: string | undefined;

  async function attempt(method: string, path: string, request: RequestOptions, isStream: boolean): Promise<Response> {
    const { query = {}, body, signal } = request;
    const headers: Record<string, string> = { ...request.headers };
    if (key) headers.authorization = `Bearer ${key}`;
    else if (cookie) headers.cookie = cookie;
    if (request.idempotencyKey) headers["idempotency-key"] = request.idempotencyKey;
    const isJson = body !== undefined && !isRaw(body);
    if (isJson) headers["content-type"] = "application/json";
    const given: [string, string][] = Object.entries(query).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, String(value)]],
    );
    const search = given.length > 0 ? `?${new URLSearchParams(given)}` : "";
    const signals = [signal, isStream ? undefined : AbortSignal.timeout(timeoutMs)].filter((one) => one !== undefined);
    try {
      const response = await fetch(base + path + search, {
        method,
        headers,
        // A session of the page's own origin must not be mixed with a key.
        credentials: key ? "omit" : "include",
        ...(body !== undefined && { body: isJson ? JSON.stringify(body) : (body as Blob) }),
        ...(signals.length > 0 && { signal: AbortSignal.any(signals) }),
      });
      if (!response.ok) throw await errorOf(response);
      for (const set of response.headers.getSetCookie?.() ?? []) {
        const [pair = ""] = set.split(";");
        if (/berth_session=/.test(pair)) cookie = pair.endsWith("=") ? undefined : pair;
      }
      if (isStream) return response;
      // Read here, because a connection that breaks within the body is tried again, too.
      return new Response(await response.arrayBuffer(), response);
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof BerthError) throw error;
      throw new ConnectionError(`No answer from ${base}: ${reasonOf(error)}`, { cause: error });
    }
  }

  /** Sends a request until it is answered; resolves with a successful response, and throws BerthError or ConnectionError. */
  async function send(method: string, path: string, request: RequestOptions = {}, isStream = false): Promise<Response> {
    const idempotencyKey = request.idempotencyKey ?? (method === "POST" ? randomId() : undefined);
    for (let tries = 0; ; tries++) {
      try {
        return await attempt(method, path, { ...request, idempotencyKey }, isStream);
      } catch (error) {
        if (tries >= retries || !isTemporary(error)) throw error;
        await delay(delayOf(error, tries), request.signal);
      }
    }
  }

  return {
    base,
    send,
    /** Resolves with the JSON of the response. */
    json: async <T>(method: string, path: string, request?: RequestOptions): Promise<T> =>
      (await send(method, path, request)).json() as Promise<T>,
  };
}

/** Whether the same request may succeed soon, without having been done already. */
export function isTemporary(error: unknown): boolean {
  if (error instanceof ConnectionError) return true;
  if (!(error instanceof BerthError)) return false;
  const { status, code, retryAfterMs } = error;
  if ((retryAfterMs ?? 0) > LONGEST_RETRY_AFTER_MS) return false;
  // The limits of a plan come without a time.
  if (status === 429) return retryAfterMs !== undefined;
  return status === 502 || status === 503 || code === "IDEMPOTENCY_IN_PROGRESS";
}

/** Exponential, with jitter, so that clients that lost the same service do not return together. */
export function delayOf(error: unknown, tries: number): number {
  if (error instanceof BerthError && error.retryAfterMs !== undefined) return error.retryAfterMs;
  return Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** tries) * (0.5 + Math.random() / 2);
}

/** Rejects with the signal's reason as soon as it aborts. */
export function delay(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", abort);
      resolve();
    }, ms);
    if (signal?.aborted) abort();
    else signal?.addEventListener("abort", abort, { once: true });
  });
}

/** `crypto.randomUUID` is missing in pages without https. */
export const randomId = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");

const isRaw = (body: unknown) =>
  body instanceof FormData ||
  body instanceof URLSearchParams ||
  body instanceof Blob ||
  body instanceof ArrayBuffer ||
  ArrayBuffer.isView(body);

/** The innermost reason: `fetch failed` of Node says nothing. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return cause instanceof Error ? cause.message || cause.name : String(cause);
}
