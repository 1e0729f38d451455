// An HTTP client for tests: it acts as one user with a cookie jar against one surface.

import { type RawAnswer, type RawRequest, rawRequest } from "./raw.ts";
import { readEvents, type ServerSentEvent } from "./sse.ts";

export interface Answer<T = unknown> {
  status: number;
  headers: Headers;
  /** Parsed if the content type is JSON, else the text. */
  body: T;
  text: string;
}

export interface Account {
  email: string;
  password: string;
  name: string;
}

export interface SendOptions {
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

/** The service that a client talks to: an origin, or a running Berth. */
export type Target =
  | string
  | {
      web: string;
      command?(...args: string[]): Promise<{ exitCode: number; stderr: string }>;
      control?(name: string, args: Record<string, string>): Promise<Response | undefined>;
    };

export interface Client {
  /** The account that `signUp` created. */
  readonly account: Account;
  /** The cookie header of its requests; empty when signed out. */
  readonly cookie: string;
  /** `POST /api/register`, by default with a new address; throws unless 201. Does not sign in. */
  signUp(account?: Partial<Account>): Promise<{ id: string; email: string; name: string }>;
  /** Signs in as `account`; throws unless 200. */
  signIn(extra?: Record<string, unknown>): Promise<void>;
  /** `signUp()`, then `signIn()`; returns the user's id. */
  join(account?: Partial<Account>): Promise<string>;
  signOut(): Promise<void>;
  /** Does what `berth user grant EMAIL PLAN` does beside the running service, and runs it if there are further arguments. */
  grant(plan: string, ...args: string[]): Promise<void>;
  get<T = unknown>(path: string, options?: SendOptions): Promise<Answer<T>>;
  post<T = unknown>(path: string, body?: unknown, options?: SendOptions): Promise<Answer<T>>;
  put<T = unknown>(path: string, body?: unknown, options?: SendOptions): Promise<Answer<T>>;
  patch<T = unknown>(path: string, body?: unknown, options?: SendOptions): Promise<Answer<T>>;
  delete<T = unknown>(path: string, body?: unknown, options?: SendOptions): Promise<Answer<T>>;
  /** Returns the unread response, for streams. */
  fetch(method: string, path: string, body?: unknown, options?: SendOptions): Promise<Response>;
  /** Reads the server-sent events of a POST (a GET if there is no body); leaving the loop closes the connection. Throws unless 2xx. */
  sse(path: string, body?: unknown, options?: SendOptions): AsyncGenerator<ServerSentEvent, void>;
  /** Sends a request byte by byte over TCP, with the cookie. */
  raw(request: RawRequest): Promise<RawAnswer>;
}

let made = 0;

/**
 * @example
 * const ada = createClient(berth);
 * await ada.join();
 * await ada.grant("starter");
 * const { status, body } = await ada.post<{ agent: { id: string } }>("/api/agents/provision", { name: "Ada's" });
 */
export function createClient(target: Target): Client {
  const origin = () => (typeof target === "string" ? target.replace(/\/$/, "") : target.web);
  const jar = new Map<string, string>();
  const cookie = () => [...jar].map(([name, value]) => `${name}=${value}`).join("; ");
  let account: Account = { email: "", password: "", name: "" };

  const send = async (method: string, path: string, body?: unknown, options: SendOptions = {}) => {
    const headers: Record<string, string> = { "user-agent": "berth-tests/1.0", ...options.headers };
    if (jar.size > 0) headers.cookie ??= cookie();
    const init: RequestInit = { method, headers, redirect: "manual" };
    if (options.signal) init.signal = options.signal;
    if (body !== undefined) {
      init.body = JSON.stringify(body);
      headers["content-type"] ??= "application/json";
    }
    const response = await fetch(`${origin()}${path}`, init);
    for (const line of response.headers.getSetCookie()) keep(jar, line);
    return response;
  };
  const request = async <T>(
    method: string,
    path: string,
    body?: unknown,
    options?: SendOptions,
  ): Promise<Answer<T>> => {
    const response = await send(method, path, body, options);
    const text = await response.text();
    const json = response.headers.get("content-type")?.includes("json") && text !== "";
    return { status: response.status, headers: response.headers, body: json ? JSON.parse(text) : text, text };
  };
  const expected = <T>(what: string, status: number, answer: Answer<T>): T => {
    if (answer.status !== status) throw new Error(`${what}: ${answer.status} ${answer.text}`);
    return answer.body;
  };

  const client: Client = {
    get account() {
      return account;
    },
    get cookie() {
      return cookie();
    },
    async signUp(overrides = {}) {
      const email = `user-${++made}-${crypto.randomUUID().slice(0, 8)}@example.com`;
      account = { email, password: "correct horse battery", name: "Ada", ...overrides };
      return expected("sign-up", 201, await request("POST", "/api/register", account));
    },
    async signIn(extra = {}) {
      const { email, password } = account;
      const body = { email, password, ...extra };
      expected("sign-in", 200, await request("POST", "/api/auth/callback/credentials", body));
    },
    async join(overrides) {
      const { id } = await client.signUp(overrides);
      await client.signIn();
      return id;
    },
    async signOut() {
      expected("sign-out", 200, await request("POST", "/api/auth/signout"));
    },
    async grant(plan, ...args) {
      if (typeof target === "string" || !target.command)
        throw new Error("grant() needs a running Berth as its target.");
      const { email } = account;
      const answer = args.length === 0 ? await target.control?.("user.grant", { email, plan }) : undefined;
      if (answer?.ok) return;
      if (answer) throw new Error(`user.grant: ${answer.status} ${await answer.text()}`);
      const { exitCode, stderr } = await target.command("user", "grant", email, plan, ...args);
      if (exitCode !== 0) throw new Error(`berth user grant ended with ${exitCode}: ${stderr}`);
    },
    get: (path, options) => request("GET", path, undefined, options),
    post: (path, body, options) => request("POST", path, body, options),
    put: (path, body, options) => request("PUT", path, body, options),
    patch: (path, body, options) => request("PATCH", path, body, options),
    delete: (path, body, options) => request("DELETE", path, body, options),
    fetch: send,
    async *sse(path, body, options = {}) {
      const abort = new AbortController();
      const signal = options.signal ? AbortSignal.any([abort.signal, options.signal]) : abort.signal;
      const headers = { accept: "text/event-stream", ...options.headers };
      try {
        const response = await send(body === undefined ? "GET" : "POST", path, body, { headers, signal });
        if (!response.ok || !response.body) throw new Error(`${path}: ${response.status} ${await response.text()}`);
        yield* readEvents(response.body);
      } finally {
        abort.abort();
      }
    },
    raw(request) {
      const headers = { ...(jar.size > 0 ? { cookie: cookie() } : {}), ...request.headers };
      return rawRequest(origin(), { ...request, headers });
    },
  };
  return client;
}

/** Stores or deletes one cookie; of the attributes only the expiry matters to a client of one origin. */
function keep(jar: Map<string, string>, line: string): void {
  const [pair = "", ...attributes] = line.split(";");
  const equals = pair.indexOf("=");
  const name = pair.slice(0, equals).trim();
  const value = pair.slice(equals + 1).trim();
  const expired = attributes.some((attribute) => {
    const [key = "", text = ""] = attribute.split("=").map((part) => part.trim());
    if (key.toLowerCase() === "max-age") return Number(text) <= 0;
    return key.toLowerCase() === "expires" && Date.parse(text) <= Date.now();
  });
  if (expired || value === "") jar.delete(name);
  else jar.set(name, value);
}
