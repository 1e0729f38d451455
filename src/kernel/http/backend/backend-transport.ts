// Calls the backend from the web surface, in process or over HTTP, each call under a short-lived signed grant.
import { treaty } from "@elysiajs/eden";
import type { AnyElysia } from "elysia";
import { AppError } from "../../errors.ts";
import { requestWithin } from "../body/body-within.ts";
import { type Grant, INVALID_TOKEN_CHALLENGE, type ServiceTokens } from "./service-tokens.ts";

export interface BackendTransport {
  readonly tokens: ServiceTokens;
  /** Makes a typed client of backend routes under this grant. */
  client<App extends AnyElysia>(grant: Grant): ReturnType<typeof treaty<App>>;
  /**
   * Sends a plain request, for responses that are passed on. The caller encodes `path`. In this process, bytes as its body are
   * handed over as they are: the route gets them from `readBody` of its guard, and `request.body` is empty.
   */
  fetch(grant: Grant, path: string, init: RequestInit): Promise<Response>;
  /** Sets the handler of calls in this process. Called once, when the backend surface is built. */
  attach(handle: (request: Request) => Promise<Response>): void;
}

const backendUnavailable = (cause: unknown) =>
  new AppError(502, "BACKEND_UNAVAILABLE", "The agent backend can't be reached. Try again shortly.", {}, { cause });

/** Makes a transport to `url`; undefined if the backend is in this process and will be attached. */
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
      const { body } = init;
      const isHandedOver = url === undefined && body instanceof Uint8Array && body.buffer instanceof ArrayBuffer;
      return sendAndCheck(
        isHandedOver
          ? requestWithin(`${base}${path}`, { ...init, headers }, body as Uint8Array<ArrayBuffer>)
          : new Request(`${base}${path}`, { ...init, headers }),
      );
    },
    client: <App extends AnyElysia>(grant: Grant) =>
      treaty<App>(base, {
        parseDate: false,
        headers: { authorization: `Bearer ${tokens.sign(grant)}` },
        fetcher: Object.assign(fetcher, { preconnect: () => undefined }),
      }),
  };
}
