// Calls to the Graph API, by plain fetch: four addresses need no client library.
import { type Binding, ChannelError } from "../port.ts";
import { type Refusal, toChannelError, toUnreachableError } from "./errors.ts";
import { readLimitedBody } from "./limited-body.ts";

/** It goes into a header, and once into an address. */
const TOKEN = /^[\w|-]{8,2048}$/;
const CALL_TIMEOUT_MS = 20_000;
/** Answers are a few kB; what is longer is none. */
const MAX_RESPONSE_BYTES = 1024 * 1024;
/** Where files are kept, beside the API itself. */
const FILE_HOSTS = /(?:^|\.)(?:fbsbx\.com|facebook\.com|whatsapp\.net)$/;

/** Bytes of a call in the name of the agent whose number it is. */
export type RecordTraffic = (agentId: string, sent: number, received: number) => void;

/** Whose calls; without an agent while nobody has the account yet. */
export type Caller = Pick<Binding, "token"> & Partial<Pick<Binding, "agentId">>;

export interface GraphRequest {
  method?: "GET" | "POST";
  /** After the version, without a slash in front. */
  path: string;
  query?: Record<string, string>;
  body?: object;
}

export interface GraphApi {
  /** The answer, of which nothing is known but that it is an object. */
  call(
    caller: Caller,
    request: GraphRequest,
    scope: "bot" | "peer",
    signal: AbortSignal,
  ): Promise<Record<string, unknown>>;
  /** Bytes from an address that the API named; `refused` when they are more than `limit`. */
  download(caller: Caller, address: string, limit: number, signal: AbortSignal): Promise<Uint8Array>;
}

export function createGraphApi(apiRoot: string, traffic: RecordTraffic = () => undefined): GraphApi {
  const root = apiRoot.replace(/\/+$/, "");
  const { origin } = new URL(root);

  const headersOf = (token: string) => {
    if (TOKEN.test(token)) return { authorization: `Bearer ${token}` };
    throw new ChannelError("refused", "This is not the form of a WhatsApp access token.", "bot");
  };
  const withTimeout = (signal: AbortSignal) => AbortSignal.any([signal, AbortSignal.timeout(CALL_TIMEOUT_MS)]);

  return {
    async call({ token, agentId }, { method = "GET", path, query, body }, scope, signal) {
      const headers = headersOf(token);
      const address = `${root}/${path}${query ? `?${new URLSearchParams(query)}` : ""}`;
      const sent = body === undefined ? undefined : JSON.stringify(body);
      const init =
        sent === undefined ? { headers } : { headers: { ...headers, "content-type": "application/json" }, body: sent };
      let response: Response;
      let text: string;
      try {
        response = await fetch(address, { ...init, method, redirect: "error", signal: withTimeout(signal) });
        const bytes = await readLimitedBody(response, MAX_RESPONSE_BYTES);
        if (!bytes) throw new ChannelError("unreachable", "WhatsApp's answer is too long to be one.", scope);
        text = new TextDecoder().decode(bytes);
      } catch (error) {
        throw toUnreachableError(error, scope);
      }
      if (agentId !== undefined) traffic(agentId, sent?.length ?? 0, text.length);
      const answer = parse(text);
      if (response.ok && isObject(answer) && answer.error === undefined) return answer;
      throw toChannelError(readRefusal(response, answer), scope, token);
    },

    async download({ token, agentId }, address, limit, signal) {
      const headers = headersOf(token);
      const { protocol, hostname, origin: named } = URL.canParse(address) ? new URL(address) : new URL("invalid:");
      // The token goes along: only to the API itself, and to where Meta keeps its files.
      if (named !== origin && !(protocol === "https:" && FILE_HOSTS.test(hostname))) throw fileGone();
      let response: Response;
      try {
        response = await fetch(address, { headers, redirect: "error", signal });
      } catch (error) {
        throw toUnreachableError(error, "peer");
      }
      if (response.status === 404 || response.status === 410) throw fileGone();
      if (!response.ok)
        throw new ChannelError("unreachable", `WhatsApp answered ${response.status} for a file.`, "peer");
      try {
        const bytes = await readLimitedBody(response, limit);
        if (!bytes) throw fileTooLarge(limit);
        if (agentId !== undefined) traffic(agentId, 0, bytes.byteLength);
        return bytes;
      } catch (error) {
        throw toUnreachableError(error, "peer");
      }
    },
  };
}

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export const fileTooLarge = (maxBytes: number) =>
  new ChannelError("refused", `The file is larger than ${Math.floor(maxBytes / 1_000_000)} MB.`, "peer");
export const fileGone = () => new ChannelError("refused", "WhatsApp does not have this file any more.", "peer");

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function readRefusal({ status, headers }: Response, answer: unknown): Refusal {
  const error = isObject(answer) && isObject(answer.error) ? answer.error : {};
  const details = isObject(error.error_data) ? error.error_data.details : undefined;
  const said = [details, error.message].find((text) => typeof text === "string" && text !== "");
  const seconds = Number(headers.get("retry-after") ?? "");
  // An answer that is none comes from something on the way.
  const known = typeof error.code === "number";
  return {
    status: known || status >= 400 ? status : 502,
    code: known ? Number(error.code) : -1,
    said: typeof said === "string" ? said : "",
    ...(seconds > 0 && seconds < 86_400 ? { retryAfter: seconds * 1000 } : {}),
  };
}
