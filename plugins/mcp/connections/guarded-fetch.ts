// The fetch of MCP connections: every request, those of OAuth too, goes through the guard for addresses of users.
import type { FetchLike } from "@modelcontextprotocol/client";
import type { Outbound } from "../../../src/kernel/security/outbound.ts";
import { SECOND } from "../../../src/kernel/util/time.ts";

/** Longer than a call of a tool may take, since some servers send headers only with the result. */
const SERVER_TIMEOUT_MS = 70 * SECOND;
const OTHER_TIMEOUT_MS = 10 * SECOND;
/** Of one response, also of a stream of messages: enough for some pictures, little enough to be parsed quickly. */
const MAX_BYTES = 4_000_000;

/** @param ownHeaders headers of the configuration, for the server's own address alone; read at each request */
export function createGuardedFetch(
  outbound: Pick<Outbound, "stream">,
  server: URL,
  ownHeaders: () => Promise<ReadonlyMap<string, string>>,
): FetchLike {
  return async (target, init = {}) => {
    const url = new URL(target);
    const isServer = url.origin === server.origin && url.pathname === server.pathname;
    const headers = new Headers(init.headers);
    if (isServer) for (const [name, value] of await ownHeaders()) headers.set(name, value);
    const response = await outbound.stream(url.href, {
      method: init.method ?? "GET",
      headers,
      ...(init.body != null && { body: await bytesOf(init.body) }),
      ...(init.signal && { signal: init.signal }),
      timeoutMs: isServer ? SERVER_TIMEOUT_MS : OTHER_TIMEOUT_MS,
      maxBytes: MAX_BYTES,
    });
    return isServer || response.ok || init.method !== "POST" ? response : withoutDescription(response);
  };
}

/**
 * An error of an authorization server (RFC 6749 §5.2) without its description, which the library logs: it is written by a
 * stranger, who may repeat the refresh token in it.
 */
async function withoutDescription(response: Response): Promise<Response> {
  const { status, headers } = response;
  const text = await response.text();
  const code = /"error"\s*:\s*"([a-z_]{1,64})"/.exec(text)?.[1];
  return Response.json({ error: code ?? "server_error" }, { status, headers: pick(headers, "www-authenticate") });
}

function pick(headers: Headers, name: string): Record<string, string> {
  const value = headers.get(name);
  return value === null ? {} : { [name]: value };
}

const bytesOf = async (body: NonNullable<RequestInit["body"]>) =>
  typeof body === "string" ? body : new Uint8Array(await new Response(body).arrayBuffer());
