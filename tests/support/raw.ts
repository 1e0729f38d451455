// Sends HTTP requests byte by byte over a TCP socket, for input that no HTTP client would send.

import { connect } from "node:net";
import { patient } from "./eventually.ts";

export interface RawAnswer {
  /** 0 when the connection was closed without an answer. */
  status: number;
  headers: Headers;
  body: string;
}

export interface RawRequest {
  method?: string;
  /** Sent exactly as given, not normalised. */
  path: string;
  headers?: Record<string, string>;
  body?: string | Uint8Array;
}

/**
 * Sends a request to `origin` exactly as written and reads until the other side closes (`connection: close` is added,
 * and `content-length` if there is a body without one). A string or bytes are sent unchanged and need their own
 * `connection: close`. Throws if the connection does not end within `timeoutMs`.
 */
export async function rawRequest(
  origin: string,
  request: RawRequest | string | Uint8Array,
  timeoutMs = 10_000,
): Promise<RawAnswer> {
  const { hostname, port, host } = new URL(origin);
  const bytes =
    typeof request === "string" || request instanceof Uint8Array ? Buffer.from(request) : encode(request, host);
  const answer = await new Promise<Buffer>((resolve, reject) => {
    const received: Buffer[] = [];
    const socket = connect(Number(port), hostname.replace(/^\[|\]$/g, ""), () => socket.write(bytes));
    const deadline = setTimeout(() => {
      socket.destroy();
      reject(new Error(`No end of the answer within ${patient(timeoutMs)} ms; so far: ${Buffer.concat(received)}`));
    }, patient(timeoutMs));
    socket.on("data", (data) => received.push(data));
    // Some servers end with a reset after the response; the bytes before it count.
    socket.on("error", (error) => {
      if (received.length === 0 && !("code" in error && error.code === "ECONNRESET")) reject(error);
    });
    socket.on("close", () => {
      clearTimeout(deadline);
      resolve(Buffer.concat(received));
    });
  });
  return decode(answer);
}

function encode({ method = "GET", path, headers = {}, body }: RawRequest, host: string): Buffer {
  const content = body === undefined ? Buffer.alloc(0) : Buffer.from(body);
  const all: Record<string, string> = { host, connection: "close", ...headers };
  const named = new Set(Object.keys(all).map((name) => name.toLowerCase()));
  if (body !== undefined && !named.has("content-length") && !named.has("transfer-encoding")) {
    all["content-length"] = String(content.length);
  }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.concat([Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join("")}\r\n`), content]);
}

function decode(bytes: Buffer): RawAnswer {
  const end = bytes.indexOf("\r\n\r\n");
  if (end < 0) return { status: 0, headers: new Headers(), body: bytes.toString() };
  const [first = "", ...lines] = bytes.subarray(0, end).toString("latin1").split("\r\n");
  const headers = new Headers();
  for (const line of lines) {
    const colon = line.indexOf(":");
    headers.append(line.slice(0, colon), line.slice(colon + 1).trim());
  }
  const rest = bytes.subarray(end + 4);
  const chunked = headers.get("transfer-encoding")?.toLowerCase() === "chunked";
  return { status: Number(first.split(" ")[1] ?? 0), headers, body: (chunked ? unchunk(rest) : rest).toString() };
}

function unchunk(bytes: Buffer): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0; at < bytes.length; ) {
    const end = bytes.indexOf("\r\n", at);
    const size = Number.parseInt(bytes.subarray(at, end < 0 ? undefined : end).toString("latin1"), 16);
    if (end < 0 || !(size > 0)) break;
    parts.push(bytes.subarray(end + 2, end + 2 + size));
    at = end + 2 + size + 2;
  }
  return Buffer.concat(parts);
}
