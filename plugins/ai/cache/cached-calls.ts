// Serves API calls from the response cache: the same request of the same caller gets the cached response for free, if the caller
// asks for it.
import type { Ledger, LedgerCall } from "../ledger/ledger.ts";
import { cacheKey, MAX_RESPONSE_BYTES, type ResponseCache } from "./response-cache.ts";

export interface CacheableCall {
  /** The request body as it came, and parsed. */
  text: string;
  body: object;
  call: LedgerCall;
  maxAgeS: number;
}

interface Deps {
  cache: ResponseCache;
  ledger: Pick<Ledger, "cachedReservation">;
}

interface CachedResponse {
  bytes: Uint8Array;
  headers: Record<string, string>;
}

/** Returns the cached response, or sends the call and caches a successful response. Not for streams. */
export type CachedCalls = (cacheable: CacheableCall, sendCall: () => Promise<Response>) => Promise<Response>;

/** Fields that do not change the response, or that are in the key in another form. */
const IGNORED_FIELDS: ReadonlySet<string> = new Set(["model", "stream", "taskType"]);
/** A number that JavaScript may round: the text of such a request is the key. */
const UNSAFE_NUMBER = /[-+.\deE]{16,}/;

export function createCachedCalls({ cache, ledger }: Deps): CachedCalls {
  return async ({ text, body, call, maxAgeS }, sendCall) => {
    const keyBody = UNSAFE_NUMBER.test(text)
      ? text
      : Object.fromEntries(Object.entries(body).filter(([name]) => !IGNORED_FIELDS.has(name)));
    // The key contains the caller, so responses are never shared, or their existence revealed, across accounts.
    const key = cacheKey(call.userId ?? "public", call.provider, call.modelId, keyBody);
    const found = cache.get(key, maxAgeS);
    if (found) {
      const { bytes, headers } = found.value as CachedResponse;
      void ledger.cachedReservation(call).record(NO_USAGE, 0);
      return new Response(bytes, { headers: { ...headers, "x-berth-cache": "hit", age: String(found.ageS) } });
    }
    const response = await sendCall();
    response.headers.set("x-berth-cache", "miss");
    const headers = { "content-type": "application/json", "cache-control": "no-store", ...modelHeader(response) };
    return teeBody(response, (bytes) => {
      if (isCacheable(bytes)) cache.set(key, { bytes, headers } satisfies CachedResponse, bytes.length);
    });
  };
}

const NO_USAGE = { inputTokens: 0, outputTokens: 0, estimated: false };

function modelHeader({ headers }: Response): Record<string, string> {
  const model = headers.get("x-berth-model");
  return model === null ? {} : { "x-berth-model": model };
}

/** The same response; `onComplete` gets its bytes at the end if they are not too many. */
function teeBody({ body, status, headers }: Response, onComplete: (bytes: Buffer) => void): Response {
  if (!body) return new Response(null, { status, headers });
  const reader = body.getReader();
  let parts: Uint8Array[] = [];
  let size = 0;
  const stream = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await reader.read();
      if (done) {
        if (size <= MAX_RESPONSE_BYTES) onComplete(Buffer.concat(parts));
        controller.close();
        return;
      }
      size += value.byteLength;
      if (size <= MAX_RESPONSE_BYTES) parts.push(value);
      else parts = [];
      controller.enqueue(value);
    },
    cancel: (reason) => reader.cancel(reason),
  });
  return new Response(stream, { status, headers });
}

/** Whether the body is a completion or embeddings: some providers report errors with status 200. */
function isCacheable(bytes: Buffer): boolean {
  try {
    const value: unknown = JSON.parse(bytes.toString());
    if (typeof value !== "object" || value === null || "error" in value) return false;
    const list = "choices" in value ? value.choices : "data" in value ? value.data : undefined;
    return Array.isArray(list) && list.length > 0;
  } catch {
    return false;
  }
}
