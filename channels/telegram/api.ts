// Calls to the Bot API. A client is made when a bot has something to say and forgotten when others have said more since.
import type { Api } from "grammy";
import { type Binding, ChannelError } from "../channel.ts";
import { createRecent } from "../shared/recent.ts";
import { refusalIn, toChannelError } from "./errors.ts";

/** The token becomes part of the address, so nothing else may be in it. */
const TOKEN = /^\d{1,20}:[\w-]{1,128}$/;
const CLIENTS = 256;
const CALL_TIMEOUT = 20;

/** grammY's type for a signal is that of a polyfill; what it uses of it the platform's own has too. */
export type ApiSignal = NonNullable<Parameters<Api["getMe"]>[0]>;

/** Bytes of a call, as JSON, in the name of the agent whose bot it is. */
export type Traffic = (agentId: string, sent: number, received: number) => void;

/** Whose calls; without an agent while nobody has the bot yet. */
type Caller = Pick<Binding, "token"> & Partial<Pick<Binding, "agentId">>;

export interface Apis {
  /** A client of its own, for a single call. */
  open(caller: Caller): Promise<Api>;
  /** Makes a call with the bot's client; what it throws is Telegram's answer, or that there was none. */
  call<T>(caller: Caller, signal: AbortSignal, use: (api: Api, signal: ApiSignal) => Promise<T>): Promise<T>;
  /**
   * One call without a client and without a clock, for what waits long: hundreds of bots cost no more than their
   * requests. Rejects like the others.
   */
  bare<T>(caller: Caller, method: string, payload: object, signal: AbortSignal): Promise<T>;
  forget(token: string): void;
}

export function createApis(apiRoot: string, traffic: Traffic = () => undefined): Apis {
  const recent = createRecent<Api>(CLIENTS);
  const root = apiRoot.replace(/\/+$/, "");

  function requireToken(token: string): void {
    if (!TOKEN.test(token)) throw new ChannelError("refused", "This is not the form of a Telegram bot token.", "bot");
  }

  async function open({ token, agentId }: Caller): Promise<Api> {
    requireToken(token);
    const { Api } = await import("grammy");
    const api = new Api(token, { apiRoot: root, timeoutSeconds: CALL_TIMEOUT });
    if (agentId === undefined) return api;
    api.config.use(async (call, method, payload, signal) => {
      traffic(agentId, bytesOf(payload), 0);
      const answer = await call(method, payload, signal);
      traffic(agentId, 0, bytesOf(answer));
      return answer;
    });
    return api;
  }

  return {
    open,
    async call(caller, signal, use) {
      let api = recent.get(caller.token);
      if (!api) {
        api = await open(caller);
        recent.set(caller.token, api);
      }
      return await use(api, apiSignal(signal));
    },
    async bare({ token, agentId }, method, payload, signal) {
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
      const refusal = refusalIn(answer);
      if (refusal) throw refusal;
      return (answer as { result: never }).result;
    },
    forget: (token) => recent.delete(token),
  };
}

const bytesOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value) ?? "");

const isApiSignal = (signal: AbortSignal): signal is AbortSignal & ApiSignal =>
  "aborted" in signal && "addEventListener" in signal;

/** A signal as grammY's methods take it. */
export function apiSignal(signal: AbortSignal): ApiSignal {
  if (!isApiSignal(signal)) throw new TypeError("This is not an AbortSignal.");
  return signal;
}

/** Runs one step of a verb; whatever it throws leaves as a `ChannelError`. */
export async function guarded<T>(token: string, scope: "bot" | "peer", step: () => Promise<T>): Promise<T> {
  try {
    return await step();
  } catch (error) {
    throw toChannelError(error, scope, token);
  }
}
