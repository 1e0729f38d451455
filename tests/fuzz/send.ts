// Sends one request and reads its answer, within a deadline. Streams are read for a moment only.

import type { FuzzRequest } from "./requests.ts";
import type { World } from "./world.ts";

/** No operation may take longer. */
export const DEADLINE_MS = 30_000;
/** An event stream that stays open is left after this time. */
const STREAM_MS = 300;
const MAX_BYTES = 256 * 1024;

export interface SentRequest {
  method: string;
  url: string;
  headers: Record<string, string>;
  body: string | undefined;
}

export type FuzzAnswer =
  | { kind: "answer"; status: number; type: string; text: string; ms: number }
  | { kind: "timeout"; ms: number }
  | { kind: "broken"; message: string; ms: number };

/** Replaces the references of a request, and encodes it. */
export async function encode(world: World, { operation, actor, ...request }: FuzzRequest): Promise<SentRequest> {
  const asText = (value: unknown) => {
    const resolved = world.resolve(value);
    return typeof resolved === "string" ? resolved : JSON.stringify(resolved);
  };
  // A lone surrogate has no encoding in an address.
  const encoded = (value: unknown) => encodeURIComponent(asText(value).toWellFormed());
  const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) => encoded(request.path[name] ?? "x") || "%20");
  const query = Object.entries(request.query).map(([name, value]) => `${name}=${encoded(value)}`);
  const { body } = request;
  const text = body && ("raw" in body ? body.raw : JSON.stringify(world.resolve(body.json)));
  const json: Record<string, string> = text === undefined ? {} : { "content-type": "application/json" };
  return {
    method: operation.method,
    url: `${world.berth[operation.surface]}${path}${query.length > 0 ? `?${query.join("&")}` : ""}`,
    headers: { ...json, ...(await world.headersOf(actor)), ...request.headers },
    body: text,
  };
}

export async function send({ method, url, headers, body }: SentRequest): Promise<FuzzAnswer> {
  const startedAt = performance.now();
  const elapsed = () => performance.now() - startedAt;
  const abort = new AbortController();
  const timer = setTimeout(() => abort.abort(), DEADLINE_MS);
  try {
    const init = { method, headers, redirect: "manual" as const, signal: abort.signal };
    const response = await fetch(url, body === undefined ? init : { ...init, body });
    const type = response.headers.get("content-type") ?? "";
    const text = await read(response, type.includes("event-stream"));
    return { kind: "answer", status: response.status, type, text, ms: elapsed() };
  } catch (error) {
    if (abort.signal.aborted) return { kind: "timeout", ms: elapsed() };
    return { kind: "broken", message: error instanceof Error ? error.message : String(error), ms: elapsed() };
  } finally {
    clearTimeout(timer);
  }
}

async function read(response: Response, isStream: boolean): Promise<string> {
  if (!response.body) return "";
  const reader = response.body.getReader();
  const leaving = isStream ? setTimeout(() => void reader.cancel().catch(() => undefined), STREAM_MS) : undefined;
  const decoder = new TextDecoder();
  let text = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done || text.length > MAX_BYTES) break;
      text += decoder.decode(value, { stream: true });
    }
  } finally {
    clearTimeout(leaving);
    await reader.cancel().catch(() => undefined);
  }
  return text;
}
