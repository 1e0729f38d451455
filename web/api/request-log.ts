// Remembers the last requests, without secrets, for the panel that shows them as code.

export interface RecordedRequest {
  method: string;
  url: string;
  body?: unknown;
  /** Instead of JSON: a file as the body, or in a field of a form. */
  file?: { type: string; field?: string };
  /** The answer is a stream of server-sent events. */
  stream?: true;
  /** The address of the page that sent it. */
  page: string;
}

const KEPT = 30;
/** Fields whose values are secrets in any body of the API. */
const SECRET_FIELD = /password|token|secret|apikey|privatekey|signature|^key$|^code$|^totp$|^value$/i;

let requests: readonly RecordedRequest[] = [];
const listeners = new Set<() => void>();

export function recordRequest({ body, ...request }: Omit<RecordedRequest, "page">): void {
  const clean = { ...request, body: withoutSecrets(body), page: location.pathname };
  // A page polls or types: only the last of the same address is kept.
  const others = requests.filter((one) => one.method !== clean.method || one.url !== clean.url);
  requests = [clean, ...others].slice(0, KEPT);
  for (const notify of listeners) notify();
}

export const recordedRequests = (): readonly RecordedRequest[] => requests;

export function subscribeToRequests(notify: () => void): () => void {
  listeners.add(notify);
  return () => listeners.delete(notify);
}

function withoutSecrets(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutSecrets);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key,
      SECRET_FIELD.test(key) && typeof inner === "string" ? "…" : withoutSecrets(inner),
    ]),
  );
}
