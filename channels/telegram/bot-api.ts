// Calls to the Bot API. A client is made when a bot has something to say and forgotten when others have said more since.
import type { Api } from "grammy";
import { type Binding, ChannelError } from "../port.ts";
import { createLruCache } from "../shared/lru-cache.ts";
import { parseRefusal, toChannelError } from "./errors.ts";

/** The token becomes part of the address, so nothing else may be in it. */
const TOKEN = /^\d{1,20}:[\w-]{1,128}$/;
const MAX_CACHED_CLIENTS = 256;
const CALL_TIMEOUT_SECONDS = 20;

/** grammY's type for a signal is that of a polyfill; what it uses of it the platform's own has too. */
export type ApiSignal = NonNullable<Parameters<Api["getMe"]>[0]>;

/** Bytes of a call, as JSON, in the name of the agent whose bot it is. */
export type RecordTraffic = (agentId: string, sent: number, received: number) => void;

/** Whose calls; without an agent while nobody has the bot yet. */
type Caller = Pick<Binding, "token"> & Partial<Pick<Binding, "agentId">>;

export interface BotApiClients {
  /** A client of its own, for a single call. */
  createClient(caller: Caller): Promise<Api>;
  /** Makes a call with the bot's client; what it throws is Telegram's answer, or that there was none. */
  call<T>(caller: Caller, signal: AbortSignal, makeCall: (api: Api, signal: ApiSignal) => Promise<T>): Promise<T>;
  /**
   * One call without a client and without a clock, for what waits long: hundreds of bots cost no more than their
   * requests. Rejects like the others.
   */
  callRaw<T>(caller: Caller, method: string, payload: object, signal: AbortSignal): Promise<T>;
  forget(token: string): void;
}

export function createBotApiClients(apiRoot: string, traffic: RecordTraffic = () => undefined): BotApiClients {
  const clientCache = createLruCache<Api>(MAX_CACHED_CLIENTS);
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
      const body = JSON.stringify(payload);
      const headers = { "content-type": "application/json" };
      const response = await fetch(`${root}/bot${token}/${method}`, {
        method: "POST",
        headers,
        body,
        redirect: "error",
        signal,
      });
      const text = await response.text();
      if (agentId !== undefined) traffic(agentId, body.length, Buffer.byteLength(text));
      // What is no JSON is no answer of Telegram's.
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

/** A signal as grammY's methods take it. */
export function apiSignal(signal: AbortSignal): ApiSignal {
  if (!isApiSignal(signal)) throw new TypeError("This is not an AbortSignal.");
  return signal;
}

/** Runs one step of a verb; whatever it throws leaves as a `ChannelError`. */
export async function withChannelErrors<T>(token: string, scope: "bot" | "peer", step: () => Promise<T>): Promise<T> {
  try {
    return await step();
  } catch (error) {
    throw toChannelError(error, scope, token);
  }
}
