// A proxy in front of a chain's RPC that forwards, fails, changes or delays requests by method, so that a test can act
// at an exact moment.

import { eventually } from "./eventually.ts";

export interface Held {
  /** Resolves when the first such request arrived (and, with `forwarded`, the node has answered it). */
  readonly reached: Promise<void>;
  release(): void;
}

/** Makes a false response from the real result and the request's parameters. */
export type FalseResponse = (honest: { result: unknown; params: unknown[] }) => { result: unknown } | { error: object };

export interface RpcProxy {
  readonly url: string;
  /** Forwards everything again; held requests fail with 503. */
  pass(): void;
  /** Fails every request with 503. */
  fail(): void;
  /** Answers requests with this method by the result of `made`. */
  respondWith(method: string, made: FalseResponse): void;
  /** The methods of all requests so far. */
  readonly requestedMethods: readonly string[];
  /** Delays the responses to this method until `release()`; with `forwarded`, the node gets the requests at once. */
  hold(method: string, options?: { forwarded?: boolean }): Held;
  stop(): Promise<void>;
}

export interface RpcProxyOptions {
  /**
   * Whether the node mines each transaction by itself. Then a sent one is answered only once its receipt is there: the
   * node answers before it mines, and a test on a busy machine would see either.
   */
  isAutomining?: () => boolean;
}

export function startRpcProxy(target: string, { isAutomining = () => false }: RpcProxyOptions = {}): RpcProxy {
  let failing = false;
  let held: { method: string; forwarded: boolean; reached(): void; released: Promise<boolean> } | undefined;
  const lies = new Map<string, FalseResponse>();
  const requestedMethods: string[] = [];
  let release: ((answered: boolean) => void) | undefined;

  const gone = () => new Response("gone", { status: 503 });
  const forward = (body: string) =>
    fetch(target, { method: "POST", body, headers: { "content-type": "application/json" } });

  async function forwardAndMine(body: string, method: string): Promise<Response> {
    const response = await forward(body);
    if (method !== "eth_sendRawTransaction" || !isAutomining()) return response;
    const text = await response.text();
    const { result: hash } = JSON.parse(text) as { result?: string };
    if (hash === undefined) return new Response(text);
    const receipt = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "eth_getTransactionReceipt", params: [hash] });
    const isMined = async () => ((await (await forward(receipt)).json()) as { result?: unknown }).result;
    // A transaction with a nonce that is not the next one stays in the pool.
    await eventually(isMined, { timeoutMs: 500, everyMs: 2 }).catch(() => undefined);
    return new Response(text);
  }

  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    async fetch(request) {
      const body = await request.text();
      if (failing) return gone();
      const { id, method, params = [] } = JSON.parse(body) as { id: number; method: string; params?: unknown[] };
      requestedMethods.push(method);
      const respondWith = lies.get(method);
      if (respondWith) {
        const { result } = (await (await forward(body)).json()) as { result?: unknown };
        return Response.json({ jsonrpc: "2.0", id, ...respondWith({ result, params }) });
      }
      const found = held;
      if (found?.method !== method) return forwardAndMine(body, method);
      const answer = found.forwarded ? await forward(body) : undefined;
      found.reached();
      if (!(await found.released)) return gone();
      return answer ?? forward(body);
    },
  });

  const pass = () => {
    failing = false;
    held = undefined;
    lies.clear();
    release?.(false);
  };
  return {
    url: `http://127.0.0.1:${server.port}`,
    pass,
    fail() {
      failing = true;
    },
    respondWith: (method, made) => void lies.set(method, made),
    requestedMethods,
    hold(method, { forwarded = false } = {}) {
      const reached = Promise.withResolvers<void>();
      const released = Promise.withResolvers<boolean>();
      release = released.resolve;
      held = { method, forwarded, reached: reached.resolve, released: released.promise };
      return {
        reached: reached.promise,
        release() {
          held = undefined;
          released.resolve(true);
        },
      };
    },
    stop: () => server.stop(true),
  };
}
