// Calls to the Bot API. A client is made when a bot has something to say and forgotten when others have said more since.
import type { Api } from "grammy";
import { type Binding, ChannelError } from "../channel.ts";
import { createRecent } from "../shared/recent.ts";
import { toChannelError } from "./errors.ts";

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
  /** A client of its own, for a connection that lasts. */
  open(caller: Caller, timeoutSeconds?: number): Promise<Api>;
  /** Makes a call with the bot's client; what it throws is Telegram's answer, or that there was none. */
  call<T>(caller: Caller, signal: AbortSignal, use: (api: Api, signal: ApiSignal) => Promise<T>): Promise<T>;
  forget(token: string): void;
}

export function createApis(apiRoot: string, traffic: Traffic = () => undefined): Apis {
  const recent = createRecent<Api>(CLIENTS);
  const root = apiRoot.replace(/\/+$/, "");

  async function open({ token, agentId }: Caller, timeoutSeconds = CALL_TIMEOUT): Promise<Api> {
    if (!TOKEN.test(token)) throw new ChannelError("refused", "This is not the form of a Telegram bot token.", "bot");
    const { Api } = await import("grammy");
    const api = new Api(token, { apiRoot: root, timeoutSeconds });
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
