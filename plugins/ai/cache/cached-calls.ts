// Kept answers for the API: whoever asks for it gets the answer of the same request by the same caller again, for nothing.
import type { Ledger, LedgerCall } from "../ledger/ledger.ts";
import { cacheKey, MAX_RESPONSE_BYTES, type ResponseCache } from "./response-cache.ts";

export interface CacheableCall {
  /** The request body as it came, and what it says. */
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

/** Answers from the cache, or asks and keeps a good answer. Only for answers that come in one piece. */
export type CachedCalls = (cacheable: CacheableCall, sendCall: () => Promise<Response>) => Promise<Response>;

/** Fields that do not change the answer, or that are in the key in another form. */
const IGNORED_FIELDS: ReadonlySet<string> = new Set(["model", "stream", "taskType"]);
/** A number that JavaScript may not tell from its neighbours: such a request is taken letter for letter. */
const UNSAFE_NUMBER = /[-+.\deE]{16,}/;

export function createCachedCalls({ cache, ledger }: Deps): CachedCalls {
  return async ({ text, body, call, maxAgeS }, sendCall) => {
    const keyBody = UNSAFE_NUMBER.test(text)
      ? text
      : Object.fromEntries(Object.entries(body).filter(([name]) => !IGNORED_FIELDS.has(name)));
    // Nobody gets what somebody else has paid for, or learns that it was asked.
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

/** The same answer; `whole` gets its bytes when it has come to its end and is not too large. */
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

/** A completion or embeddings: some providers tell of errors with a 200. */
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
