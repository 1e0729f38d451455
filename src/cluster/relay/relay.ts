// Sends a request on to another node, with bodies as they come, and brings its response.
import { FORWARDING_HEADER } from "../../kernel/cells/forwarding.ts";
import { cellMoved } from "../away.ts";
import { failure } from "./failure.ts";
import { RELAY_HEADER, type RelayGrant, type RelayGrants, requestLine } from "./grants.ts";

/** Set by a node or process that does not own the cell: it has done nothing. */
export const MOVED_HEADER = "x-berth-moved";
export const isMoved = (response: Response) => response.headers.has(MOVED_HEADER);

export function movedResponse(): Response {
  const response = failure(cellMoved());
  response.headers.set(MOVED_HEADER, "1");
  return response;
}

/** A body up to this size is read first, so that the request can be sent again to the next owner. */
export const BUFFERED_BYTES = 1024 * 1024;

/** An answer up to this size is read whole while its sender is watched, so that it comes whole or is asked for again. */
const SHORT_BYTES = 64 * 1024;

/** RFC 9110, section 7.6.1: they belong to one connection. */
const HOP_BY_HOP = [
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
];

/** `again`: nothing was done, and it may be sent to another node. `broken`: whether it was done is not known. */
export type RelayOutcome = Response | "again" | "broken";

export interface Sending {
  /** The request as it came, for a surface of this process. */
  request(): Request;
  /** `gone` aborts when the node does not have the cell any more, which may be silent; a longer body that has begun goes on. */
  send(node: string, grant: RelayGrant, gone?: AbortSignal): Promise<RelayOutcome>;
}

/** @param text the body, if the grant is to cover it */
export function prepareRelay(request: Request, grants: RelayGrants, text?: string): Sending {
  const length = Number(request.headers.get("content-length") ?? (request.body ? Number.NaN : 0));
  const isSmall = length <= BUFFERED_BYTES;
  const isSafe = request.method === "GET" || request.method === "HEAD";
  let bytes: ArrayBuffer | undefined;
  let isTaken = false;
  const headers = new Headers(request.headers);
  for (const name of [...HOP_BY_HOP, RELAY_HEADER]) headers.delete(name);
  // The same bytes as they come: this node neither opens nor packs them.
  const line = requestLine(request.method, request.url);
  const covered = { forwarding: request.headers.get(FORWARDING_HEADER), body: text };

  async function body(): Promise<ArrayBuffer | ReadableStream<Uint8Array> | undefined> {
    if (isSafe || request.body === null) return undefined;
    if (!isSmall) return request.body;
    bytes ??= await request.arrayBuffer();
    return bytes;
  }

  return {
    request: () =>
      bytes === undefined
        ? request
        : new Request(request.url, {
            method: request.method,
            headers: request.headers,
            body: bytes,
            signal: request.signal,
          }),
    async send(node, grant, gone) {
      if (isTaken) return "broken";
      headers.set(RELAY_HEADER, grants.sign(grant, node, line, covered));
      const content = await body();
      isTaken = content instanceof ReadableStream;
      const stop = new AbortController();
      const abort = () => stop.abort();
      gone?.addEventListener("abort", abort);
      try {
        const response = await fetch(`${node}${line.slice(request.method.length + 1)}`, {
          method: request.method,
          headers,
          ...(content !== undefined && { body: content }),
          redirect: "manual",
          decompress: false,
          signal: AbortSignal.any([request.signal, stop.signal]),
          // A stream may be silent for long.
          timeout: false,
        } as BunFetchRequestInit);
        return await receive(response);
      } catch (error) {
        if (request.signal.aborted) throw error;
        return isSafe || neverSent(error) ? "again" : "broken";
      } finally {
        gone?.removeEventListener("abort", abort);
      }
    },
  };
}

/** Whether a response is read before it is passed on. */
export const isWhole = ({ headers }: Response) => Number(headers.get("content-length") ?? Number.NaN) <= SHORT_BYTES;

/** A response as it is passed on. One with a short body is read first, so that it arrives as a whole or not at all. */
export async function receive(response: Response): Promise<Response> {
  const headers = new Headers(response.headers);
  for (const name of HOP_BY_HOP) headers.delete(name);
  const body = response.body && isWhole(response) ? await response.arrayBuffer() : response.body;
  return new Response(body, { status: response.status, statusText: response.statusText, headers });
}

const neverSent = (error: unknown) =>
  error instanceof Error &&
  "code" in error &&
  /^(?:ConnectionRefused|ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|FailedToOpenSocket)$/.test(String(error.code));
