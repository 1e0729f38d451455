// Calls to the Bot API. A client is made when a bot has something to say and forgotten when others have said more since.
import type { Api } from "grammy";
import { ChannelError } from "../channel.ts";
import { toChannelError } from "./errors.ts";
import { createRecent } from "./recent.ts";

/** The token becomes part of the address, so nothing else may be in it. */
const TOKEN = /^\d{1,20}:[\w-]{1,128}$/;
const CLIENTS = 256;
const CALL_TIMEOUT = 20;

/** grammY's type for a signal is that of a polyfill; what it uses of it the platform's own has too. */
export type ApiSignal = NonNullable<Parameters<Api["getMe"]>[0]>;

export interface Apis {
  /** A client of its own, for a connection that lasts. */
  open(token: string, timeoutSeconds?: number): Promise<Api>;
  /** Makes a call with the bot's client; what it throws is Telegram's answer, or that there was none. */
  call<T>(token: string, signal: AbortSignal, use: (api: Api, signal: ApiSignal) => Promise<T>): Promise<T>;
  forget(token: string): void;
}

export function createApis(apiRoot: string): Apis {
  const recent = createRecent<Api>(CLIENTS);
  const root = apiRoot.replace(/\/+$/, "");

  async function open(token: string, timeoutSeconds = CALL_TIMEOUT): Promise<Api> {
    if (!TOKEN.test(token)) throw new ChannelError("refused", "This is not the form of a Telegram bot token.", "bot");
    const { Api } = await import("grammy");
    return new Api(token, { apiRoot: root, timeoutSeconds });
  }

  return {
    open,
    async call(token, signal, use) {
      let api = recent.get(token);
      if (!api) {
        api = await open(token);
        recent.set(token, api);
      }
      return await use(api, apiSignal(signal));
    },
    forget: (token) => recent.delete(token),
  };
}

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
