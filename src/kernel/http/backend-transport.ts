// How the web surface reaches the backend: one transport, in process or over HTTP, every call under a short-lived signed grant.
import { treaty } from "@elysiajs/eden";
import type { AnyElysia } from "elysia";
import { AppError } from "../errors.ts";
import type { Vault } from "../security/vault.ts";

/** Who asks for what, as the web surface vouches for it. */
export interface Grant {
  userId: string;
  /** Whether the web surface found the user to be an admin. */
  isAdmin: boolean;
  /** The id of the session or API key that the user came with: what takes long asks at its end whether that is still there. */
  credentialId?: string;
  /** The agent it is about; left out for what concerns no single one. */
  agentId?: string;
  /** The one thing that may be done with it, such as `agent.chat`. */
  action: string;
  /** The client's address, for limits and logs. */
  address: string;
}

/** Milliseconds a service token is good for: the way to the backend, not the work there. */
const TOKEN_LIFETIME_MS = 30_000;
const TOKEN_PREFIX = "st.";

/** What the backend says in `www-authenticate` when a service token is not good: our trouble, not the caller's. */
export const INVALID_TOKEN_CHALLENGE = 'Bearer error="invalid_token"';

export interface ServiceTokens {
  sign(grant: Grant): string;
  /** The grant of a token; undefined when it is not ours, was changed, or is too old. */
  verify(token: string): Grant | undefined;
}

/** Service tokens under a key derived from the root key: `st.<payload>.<mac>`. */
export function createServiceTokens(vault: Vault): ServiceTokens {
  return {
    sign(grant) {
      const payload = Buffer.from(JSON.stringify({ ...grant, expires: Date.now() + TOKEN_LIFETIME_MS })).toString(
        "base64url",
      );
      return `${TOKEN_PREFIX}${payload}.${vault.sign("service-token", payload)}`;
    },
    verify(token) {
      if (!token.startsWith(TOKEN_PREFIX)) return undefined;
      const [payload, mac, ...rest] = token.slice(TOKEN_PREFIX.length).split(".");
      if (!payload || !mac || rest.length > 0 || !vault.verify("service-token", payload, mac)) return undefined;
      const { expires, ...grant } = JSON.parse(Buffer.from(payload, "base64url").toString()) as Grant & {
        expires: number;
      };
      return Date.now() < expires ? grant : undefined;
    },
  };
}

export interface BackendTransport {
  readonly tokens: ServiceTokens;
  /** A typed client of backend routes under this grant. */
  client<App extends AnyElysia>(grant: Grant): ReturnType<typeof treaty<App>>;
  /** The same as a plain request, for answers that are passed on as they come. `path` is encoded by the caller. */
  fetch(grant: Grant, path: string, init: RequestInit): Promise<Response>;
  /** In process: what answers instead of the network. Called once, when the backend surface is built. */
  attach(handle: (request: Request) => Promise<Response>): void;
}

const backendUnavailable = (cause: unknown) =>
  new AppError(502, "BACKEND_UNAVAILABLE", "The agent backend can't be reached. Try again shortly.", {}, { cause });

/** `url` undefined: the backend is in this process and will be attached. */
export function createBackendTransport(tokens: ServiceTokens, url: string | undefined): BackendTransport {
  const base = url ?? "http://localhost";
  let handle: (request: Request) => Promise<Response> = () => Promise.reject(new Error("The backend is not attached."));

  async function sendAndCheck(request: Request): Promise<Response> {
    const response = await sendRequest(request);
    if (response.headers.get("www-authenticate") !== INVALID_TOKEN_CHALLENGE) return response;
    throw backendUnavailable(
      new Error("The backend refuses our service tokens. Do both clocks and both SECRET_KEYs agree?"),
    );
  }

  async function sendRequest(request: Request): Promise<Response> {
    try {
      return url === undefined ? await handle(request) : await fetch(request);
    } catch (cause) {
      if (request.signal.aborted) throw cause;
      throw backendUnavailable(cause);
    }
  }
  const fetcher = (input: string | URL | Request, init?: RequestInit) =>
    sendAndCheck(input instanceof Request ? new Request(input, init) : new Request(input.toString(), init));

  return {
    tokens,
    attach: (next) => {
      handle = next;
    },
    fetch(grant, path, init) {
      const headers = new Headers(init.headers);
      headers.set("authorization", `Bearer ${tokens.sign(grant)}`);
      return sendAndCheck(new Request(`${base}${path}`, { ...init, headers }));
    },
    client: <App extends AnyElysia>(grant: Grant) =>
      treaty<App>(base, {
        parseDate: false,
        headers: { authorization: `Bearer ${tokens.sign(grant)}` },
        fetcher: Object.assign(fetcher, { preconnect: () => undefined }),
      }),
  };
}

/** The data of a typed backend answer; its error passed on with the status and body that the backend chose. */
export function unwrap<Data>(response: {
  data: Data;
  error: null | { status: unknown; value: unknown };
}): NonNullable<Data> {
  if (response.error === null && response.data !== null && response.data !== undefined) return response.data;
  throw toAppError(Number(response.error?.status ?? 502), response.error?.value);
}

/** The JSON of a plain backend answer; errors likewise. */
export async function unwrapJson(response: Response): Promise<unknown> {
  const body: unknown = await response.json().catch(() => undefined);
  if (response.ok && body !== undefined && body !== null) return body;
  throw toAppError(response.ok ? 502 : response.status, body);
}

/** A plain backend answer as the web surface passes it on: status, type and body, whatever they are. */
export const forwardResponse = ({ status, headers, body }: Response) =>
  new Response(body, {
    status,
    headers: { "content-type": headers.get("content-type") ?? "application/json;charset=utf-8" },
  });

/**
 * A caller's text as one part of a path: encoded, and 404 for the two that every URL parser takes for a way up, encoded
 * or not (WHATWG URL, "dot segment").
 */
export function encodePathSegment(text: string): string {
  if (/^(?:\.|%2e){1,2}$/i.test(text)) throw new AppError(404, "NOT_FOUND", "There is nothing of this name.");
  return encodeURIComponent(text);
}

function toAppError(status: number, body: unknown): AppError {
  if (typeof body !== "object" || body === null || !("code" in body) || !("error" in body)) {
    return new AppError(502, "BACKEND_UNAVAILABLE", "The agent backend gave no usable answer. Try again shortly.");
  }
  const { code, error, ...extras } = body;
  return new AppError(status, String(code), String(error), extras);
}
