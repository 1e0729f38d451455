// Calls Telegram's Bot API. Clients are created on first use, and a bounded map keeps those used last.
import type { Api } from "grammy";
import { createBoundedMap } from "../../src/kernel/util/bounded-map.ts";
import { type Binding, ChannelError, type RecordTraffic } from "../port.ts";
import { bodySize } from "../shared/body-size.ts";
import { parseRefusal, toChannelError } from "./errors.ts";

/** The form of a token. It becomes part of the URL, so other characters are refused. */
const TOKEN = /^\d{1,20}:[\w-]{1,128}$/;
const MAX_CACHED_CLIENTS = 256;
const CALL_TIMEOUT_SECONDS = 20;

/** grammY declares the signal type of a polyfill; a native AbortSignal has all members that grammY uses. */
export type ApiSignal = NonNullable<Parameters<Api["getMe"]>[0]>;

/** The bot that a call is made for; without an agent while its token is being checked. */
type Caller = Pick<Binding, "token"> & Partial<Pick<Binding, "agentId">>;

export interface BotApiClients {
  /** A client that is not kept, for a single call. */
  createClient(caller: Caller): Promise<Api>;
  /** Makes a call with the bot's cached client. Throws grammY's errors. */
  call<T>(caller: Caller, signal: AbortSignal, makeCall: (api: Api, signal: ApiSignal) => Promise<T>): Promise<T>;
  /**
   * Makes one call by plain fetch, without a client or a timer: for long polls, of which hundreds may wait at once, and for
   * forms with files, which take longer than other calls. Throws the same refusals as grammY.
   */
  callRaw<T>(caller: Caller, method: string, payload: object | FormData, signal: AbortSignal): Promise<T>;
  forget(token: string): void;
}

export function createBotApiClients(apiRoot: string, traffic: RecordTraffic = () => undefined): BotApiClients {
  const clientCache = createBoundedMap<Api>(MAX_CACHED_CLIENTS);
  const root = apiRoot.replace(/\/+$/, "");

  function requireToken(token: string): void {
    if (!TOKEN.test(token)) throw new ChannelError("refused", "This is not the form of a Telegram bot token.", "bot");
  }

  async function createClient({ token, agentId }: Caller): Promise<Api> {
    requireToken(token);
    const { Api } = await import("grammy");
    const api = new Api(token, { apiRoot: root, timeoutSeconds: CALL_TIMEOUT_SECONDS });
    if (agentId === undefined) return api;
    api.config.use(async (call, method, payload, signal) => {
      traffic(agentId, jsonSize(payload), 0);
      const answer = await call(method, payload, signal);
      traffic(agentId, 0, jsonSize(answer));
      return answer;
    });
    return api;
  }

  return {
    createClient,
    async call(caller, signal, makeCall) {
      let api = clientCache.get(caller.token);
      if (!api) {
        api = await createClient(caller);
        clientCache.set(caller.token, api);
      }
      return await makeCall(api, apiSignal(signal));
    },
    async callRaw({ token, agentId }, method, payload, signal) {
      requireToken(token);
      const isForm = payload instanceof FormData;
      const body = isForm ? payload : JSON.stringify(payload);
      const response = await fetch(`${root}/bot${token}/${method}`, {
        method: "POST",
        ...(!isForm && { headers: { "content-type": "application/json" } }),
        body,
        redirect: "error",
        signal,
      });
      const text = await response.text();
      if (agentId !== undefined) traffic(agentId, bodySize(body), Buffer.byteLength(text));
      // A body that is not JSON does not come from Telegram: the parse error counts as unreachable.
      const answer: unknown = JSON.parse(text);
      const refusal = parseRefusal(answer);
      if (refusal) throw refusal;
      return (answer as { result: never }).result;
    },
    forget: (token) => clientCache.delete(token),
  };
}

const jsonSize = (value: unknown) => Buffer.byteLength(JSON.stringify(value) ?? "");

const isApiSignal = (signal: AbortSignal): signal is AbortSignal & ApiSignal =>
  "aborted" in signal && "addEventListener" in signal;

/** A signal with the type that grammY's methods take. */
export function apiSignal(signal: AbortSignal): ApiSignal {
  if (!isApiSignal(signal)) throw new TypeError("This is not an AbortSignal.");
  return signal;
}

/** Runs one step of a verb and converts every error into a `ChannelError`. */
export async function withChannelErrors<T>(token: string, scope: "bot" | "peer", step: () => Promise<T>): Promise<T> {
  try {
    return await step();
  } catch (error) {
    throw toChannelError(error, scope, token);
  }
}
