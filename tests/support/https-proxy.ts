// A reverse proxy with TLS in front of a service, as operators run one: a self-signed certificate, and streams in both directions.

import { selfSigned } from "./certificates.ts";

export interface HttpsProxy extends AsyncDisposable {
  /** `https://127.0.0.1:PORT`, without a trailing slash. */
  readonly origin: string;
  /** Names the service, whose address is often known only after the proxy's; until then requests get 502. */
  pointTo(origin: string): void;
}

export async function startHttpsProxy(): Promise<HttpsProxy> {
  let target: string | undefined;
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    tls: await selfSigned(),
    async fetch(request) {
      if (target === undefined) return new Response("No service.", { status: 502 });
      const { pathname, search } = new URL(request.url);
      const headers = new Headers(request.headers);
      headers.set("x-forwarded-for", "127.0.0.1");
      headers.set("x-forwarded-proto", "https");
      const { method, body, signal } = request;
      const init = { method, headers, body, signal, redirect: "manual", decompress: false } as const;
      const response = await fetch(`${target}${pathname}${search}`, init).catch(() => undefined);
      return response ?? new Response("Gone.", { status: 502 });
    },
  });
  return {
    origin: server.url.origin,
    pointTo(origin) {
      target = origin;
    },
    [Symbol.asyncDispose]: () => server.stop(true),
  };
}
