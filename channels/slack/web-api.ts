// Calls Slack's Web API by plain fetch. The official client keeps a queue, an emitter and 44 kB for each token, retries by
// itself and takes no signal; its types are used for the arguments.
// https://docs.slack.dev/apis/web-api

import { createBoundedMap } from "../../src/kernel/util/bounded-map.ts";
import { readLimitedBody } from "../../src/kernel/util/limited-body.ts";
import { HOUR, MINUTE, SECOND } from "../../src/kernel/util/time.ts";
import { ChannelError, type RecordTraffic } from "../port.ts";
import { fileGoneError, fileTooLargeError } from "../shared/file-errors.ts";
import { isObject } from "../shared/is-object.ts";
import { SlackBusy, SlackRefusal } from "./errors.ts";

const CALL_TIMEOUT_MS = 20_000;
/** A file may take that long on a slow line. */
const UPLOAD_TIMEOUT_MS = 3 * MINUTE;
/** A page of messages may have some hundred kB. */
const MAX_RESPONSE_BYTES = 4 * 1024 * 1024;
/** Slack's hosts of files, beside the API itself. https://docs.slack.dev/reference/objects/file-object */
const FILE_HOST = "files.slack.com";
const DEFAULT_WAIT_MS = 30_000;
/** Methods whose "retry after" is remembered. */
const MAX_WAITS = 4_096;

/** Whom a call is made for. */
export interface Caller {
  token: string;
  /** Whose limits it counts to: the app's id; left out while a token is checked. */
  bot?: string;
  agentId?: string;
}

export type Answer = Readonly<Record<string, unknown>>;

export interface WebApi {
  /**
   * Makes a call and returns the answer, an object of unknown form. Values that are no text are sent as JSON. Throws
   * SlackRefusal, SlackBusy, or what fetch throws.
   */
  call(caller: Caller, method: string, args: object, signal: AbortSignal): Promise<Answer>;
  /** The same, with the scopes that the token has; undefined if Slack does not name them. */
  callWithScopes(
    caller: Caller,
    method: string,
    signal: AbortSignal,
  ): Promise<{ answer: Answer; scopes: string[] | undefined }>;
  /** Sends the bytes of a file to an address that the API gave. */
  upload(caller: Caller, address: string, bytes: Uint8Array<ArrayBuffer>, signal: AbortSignal): Promise<void>;
  /** Fetches a file; `refused` if there are more than `limit` bytes. */
  download(caller: Caller, address: string, limit: number, signal: AbortSignal): Promise<Uint8Array>;
  /** Forgets how long Slack asked this bot to wait. */
  forget(bot: string): void;
}

export function createWebApi(apiRoot: string, traffic: RecordTraffic = () => undefined): WebApi {
  const root = apiRoot.replace(/\/+$/, "");
  const { origin } = new URL(root);
  /** By bot and method, the time until which calls would only be refused again; and each bot's methods. */
  const waits = createBoundedMap<number>(MAX_WAITS);
  const waitingMethods = createBoundedMap<Set<string>>(MAX_WAITS);
  const withTimeout = (signal: AbortSignal, ms: number) => AbortSignal.any([signal, AbortSignal.timeout(ms)]);

  function requireAllowed({ bot }: Caller, method: string): void {
    const wait = bot === undefined ? 0 : (waits.get(`${bot} ${method}`) ?? 0) - Date.now();
    if (wait > 0) throw new SlackBusy(wait);
  }

  function rememberWait({ bot }: Caller, method: string, ms: number): void {
    if (bot === undefined) return;
    waits.set(`${bot} ${method}`, Date.now() + ms);
    const methods = waitingMethods.get(bot) ?? new Set();
    waitingMethods.set(bot, methods.add(method));
  }

  async function request(caller: Caller, method: string, args: object, signal: AbortSignal) {
    requireAllowed(caller, method);
    const body = toForm(args);
    const response = await fetch(`${root}/${method}`, {
      method: "POST",
      headers: { authorization: `Bearer ${caller.token}` },
      body,
      redirect: "error",
      signal: withTimeout(signal, CALL_TIMEOUT_MS),
    });
    const bytes = await readLimitedBody(response, MAX_RESPONSE_BYTES);
    if (caller.agentId !== undefined) traffic(caller.agentId, body.toString().length, bytes?.byteLength ?? 0);
    const answer = parse(bytes);
    const code = typeof answer?.error === "string" ? answer.error : undefined;
    if (response.status === 429 || code === "ratelimited" || code === "rate_limited") {
      const ms = waitOf(response);
      rememberWait(caller, method, ms);
      throw new SlackBusy(ms);
    }
    if (response.ok && answer?.ok === true) return { answer, headers: response.headers };
    // An answer without a code comes from a proxy on the way.
    if (code === undefined || response.status >= 500) throw new SlackRefusal(method, "service_unavailable");
    throw new SlackRefusal(method, code, typeof answer?.needed === "string" ? answer.needed : undefined);
  }

  /** The address comes from Slack's answer; the token goes nowhere else. */
  function requireFileAddress(address: string): string {
    const url = URL.canParse(address) ? new URL(address) : undefined;
    if (url && (url.origin === origin || (url.protocol === "https:" && url.host === FILE_HOST))) return url.href;
    throw new ChannelError("refused", "This file is not at Slack.", "peer");
  }

  return {
    call: async (caller, method, args, signal) => (await request(caller, method, args, signal)).answer,

    async callWithScopes(caller, method, signal) {
      const { answer, headers } = await request(caller, method, {}, signal);
      const scopes = headers
        .get("x-oauth-scopes")
        ?.split(",")
        .map((name) => name.trim());
      return { answer, scopes };
    },

    async upload({ agentId }, address, bytes, signal) {
      const response = await fetch(requireFileAddress(address), {
        method: "POST",
        headers: { "content-type": "application/octet-stream" },
        body: bytes,
        redirect: "error",
        signal: withTimeout(signal, UPLOAD_TIMEOUT_MS),
      });
      await response.body?.cancel();
      if (agentId !== undefined) traffic(agentId, bytes.byteLength, 0);
      if (response.status === 429) throw new SlackBusy(waitOf(response));
      if (!response.ok) {
        throw new SlackRefusal("upload", response.status >= 500 ? "service_unavailable" : "file_upload_refused");
      }
    },

    async download({ token, agentId }, address, limit, signal) {
      const headers = { authorization: `Bearer ${token}` };
      const response = await fetch(requireFileAddress(address), { headers, redirect: "manual", signal });
      // Without the right to read it, Slack leads to its sign-in page.
      if (response.status >= 300 && response.status < 500) throw fileGoneError("Slack");
      if (!response.ok) throw new ChannelError("unreachable", `Slack answered ${response.status} for a file.`, "peer");
      const bytes = await readLimitedBody(response, limit);
      if (!bytes) throw fileTooLargeError(limit);
      if (agentId !== undefined) traffic(agentId, 0, bytes.byteLength);
      return bytes;
    },

    forget(bot) {
      for (const method of waitingMethods.get(bot) ?? []) waits.delete(`${bot} ${method}`);
      waitingMethods.delete(bot);
    },
  };
}

/** Not all methods take JSON, but all take a form whose values may be JSON. */
function toForm(args: object): URLSearchParams {
  const given = Object.entries(args).filter(([, value]) => value !== undefined);
  return new URLSearchParams(
    given.map(([name, value]): [string, string] => [name, typeof value === "string" ? value : JSON.stringify(value)]),
  );
}

function parse(bytes: Uint8Array | undefined): Record<string, unknown> | undefined {
  try {
    const value: unknown = bytes && JSON.parse(new TextDecoder().decode(bytes));
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function waitOf({ headers }: Response): number {
  const seconds = Number(headers.get("retry-after") ?? "");
  return seconds > 0 && seconds * SECOND < HOUR ? seconds * SECOND : DEFAULT_WAIT_MS;
}
