// Calls the Graph API by plain fetch: four endpoints need no client library.

import { readLimitedBody } from "../../src/kernel/util/limited-body.ts";
import { DAY, MINUTE, SECOND } from "../../src/kernel/util/time.ts";
import { type Binding, ChannelError, type RecordTraffic } from "../port.ts";
import { bodySize } from "../shared/body-size.ts";
import { fileGoneError, fileTooLargeError } from "../shared/file-errors.ts";
import { isObject } from "../shared/is-object.ts";
import { type Refusal, toChannelError, toUnreachableError } from "./errors.ts";

/** The form of a token, which goes into a header and once into a URL. */
const TOKEN = /^[\w|-]{8,2048}$/;
const CALL_TIMEOUT_MS = 20_000;
/** A file may take that long on a slow line. */
const UPLOAD_TIMEOUT_MS = 3 * MINUTE;
/** Responses have a few kB; longer ones count as failures. */
const MAX_RESPONSE_BYTES = 1024 * 1024;
/** The hosts of files, beside the API itself. */
const FILE_HOSTS = /(?:^|\.)(?:fbsbx\.com|facebook\.com|whatsapp\.net)$/;

/** The bot that a call is made for; without an agent while its token is being checked. */
export type Caller = Pick<Binding, "token"> & Partial<Pick<Binding, "agentId">>;

export interface GraphRequest {
  method?: "GET" | "POST";
  /** The path after the version, without a leading slash. */
  path: string;
  query?: Record<string, string>;
  /** Sent as JSON, or as a form with a file. */
  body?: object | FormData;
}

export interface GraphApi {
  /** Makes a call and returns the response, an object of unknown form. Throws ChannelError. */
  call(
    caller: Caller,
    request: GraphRequest,
    scope: "bot" | "peer",
    signal: AbortSignal,
  ): Promise<Record<string, unknown>>;
  /** Fetches a URL that the API returned; `refused` if there are more than `limit` bytes. */
  download(caller: Caller, address: string, limit: number, signal: AbortSignal): Promise<Uint8Array>;
}

export function createGraphApi(apiRoot: string, traffic: RecordTraffic = () => undefined): GraphApi {
  const root = apiRoot.replace(/\/+$/, "");
  const { origin } = new URL(root);

  const headersOf = (token: string) => {
    if (TOKEN.test(token)) return { authorization: `Bearer ${token}` };
    throw new ChannelError("refused", "This is not the form of a WhatsApp access token.", "bot");
  };
  const withTimeout = (signal: AbortSignal, ms: number) => AbortSignal.any([signal, AbortSignal.timeout(ms)]);

  return {
    async call({ token, agentId }, { method = "GET", path, query, body }, scope, signal) {
      const headers = headersOf(token);
      const address = `${root}/${path}${query ? `?${new URLSearchParams(query)}` : ""}`;
      const isForm = body instanceof FormData;
      const sent = body === undefined || isForm ? body : JSON.stringify(body);
      const type = typeof sent === "string" ? { "content-type": "application/json" } : {};
      const init = { headers: { ...headers, ...type }, ...(sent !== undefined && { body: sent }) };
      const limited = withTimeout(signal, isForm ? UPLOAD_TIMEOUT_MS : CALL_TIMEOUT_MS);
      let response: Response;
      let text: string;
      try {
        response = await fetch(address, { ...init, method, redirect: "error", signal: limited });
        const bytes = await readLimitedBody(response, MAX_RESPONSE_BYTES);
        if (!bytes) throw new ChannelError("unreachable", "WhatsApp's answer is too long.", scope);
        text = new TextDecoder().decode(bytes);
      } catch (error) {
        throw toUnreachableError(error, scope);
      }
      if (agentId !== undefined) traffic(agentId, bodySize(sent), text.length);
      const answer = parse(text);
      if (response.ok && isObject(answer) && answer.error === undefined) return answer;
      throw toChannelError(readRefusal(response, answer), scope, token);
    },

    async download({ token, agentId }, address, limit, signal) {
      const headers = headersOf(token);
      const { protocol, hostname, origin: fileOrigin } = URL.canParse(address) ? new URL(address) : new URL("invalid:");
      // The request carries the token, so it goes only to the API and to Meta's file hosts.
      if (fileOrigin !== origin && !(protocol === "https:" && FILE_HOSTS.test(hostname)))
        throw fileGoneError("WhatsApp");
      let response: Response;
      try {
        response = await fetch(address, { headers, redirect: "error", signal });
      } catch (error) {
        throw toUnreachableError(error, "peer");
      }
      if (response.status === 404 || response.status === 410) throw fileGoneError("WhatsApp");
      if (!response.ok)
        throw new ChannelError("unreachable", `WhatsApp answered ${response.status} for a file.`, "peer");
      try {
        const bytes = await readLimitedBody(response, limit);
        if (!bytes) throw fileTooLargeError(limit);
        if (agentId !== undefined) traffic(agentId, 0, bytes.byteLength);
        return bytes;
      } catch (error) {
        throw toUnreachableError(error, "peer");
      }
    },
  };
}

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
  const message = [details, error.message].find((text) => typeof text === "string" && text !== "");
  const seconds = Number(headers.get("retry-after") ?? "");
  // A response without an error code comes from a proxy on the way.
  const hasCode = typeof error.code === "number";
  return {
    status: hasCode || status >= 400 ? status : 502,
    code: hasCode ? Number(error.code) : -1,
    message: typeof message === "string" ? message : "",
    ...(seconds > 0 && seconds * SECOND < DAY ? { retryAfter: seconds * SECOND } : {}),
  };
}
