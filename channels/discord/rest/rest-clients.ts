// Calls Discord's REST API. Clients are created on first use, and a bounded map keeps those used last.
import type { RawFile, REST, RouteLike } from "discord.js";
import { createBoundedMap } from "../../../src/kernel/util/bounded-map.ts";
import { MINUTE } from "../../../src/kernel/util/time.ts";
import { type Binding, ChannelError, type RecordTraffic } from "../../port.ts";
import { bodySize } from "../../shared/body-size.ts";
import { tokenRefused } from "../errors.ts";
import { isSnowflake } from "../ids.ts";
import { createInvalidRequestLimit, type InvalidRequestLimit, MAX_PER_BOT } from "./invalid-request-limit.ts";

/**
 * The form of a token, which goes into a header; its first part is the bot's id.
 * https://discord.com/developers/docs/reference#authentication
 */
const TOKEN = /^([\w-]{16,32})\.[\w-]{1,32}\.[\w-]{8,128}$/;

/** Whether a text can be a token. Others are not sent, because each refusal counts against all bots of this host. */
function isToken(token: string): boolean {
  const id = TOKEN.exec(token)?.[1];
  return id !== undefined && isSnowflake(Buffer.from(id, "base64").toString("latin1"));
}
const MAX_CACHED_CLIENTS = 256;
const CALL_TIMEOUT_MS = 15_000;
/** A file may take that long on a slow line. */
const UPLOAD_TIMEOUT_MS = 2 * MINUTE;
/** A call that would wait longer for a rate limit fails with `busy`. */
const MAX_WAIT_MS = 1_000;

/** The bot that a call is made for; without an agent while its token is being checked. */
export type Caller = Pick<Binding, "token"> & Partial<Pick<Binding, "agentId">>;

export interface Call {
  method: "get" | "post" | "patch" | "put" | "delete";
  path: RouteLike;
  body?: unknown;
  query?: URLSearchParams;
  files?: RawFile[];
  /** False if the path itself holds a token, as for interactions and their answers. */
  auth?: boolean;
}

export interface RestClients {
  /** Makes a call. Throws the library's errors. */
  call(caller: Caller, signal: AbortSignal, call: Call): Promise<unknown>;
  /** The client, for the library's own calls. Throws for a token that Discord refused. */
  client(caller: Caller): Promise<REST>;
  /** Stops the use of a token: too many refused calls ban the host. */
  markTokenRefused(token: string): void;
  /** Allows a refused token again. */
  forget(token: string): void;
}

interface Options {
  apiRoot: string;
  traffic?: RecordTraffic | undefined;
  invalidRequestLimit?: InvalidRequestLimit;
  /** Refusals of one bot within ten minutes before its calls are blocked. */
  maxPerBot?: number;
  /** Milliseconds for which a refused token is not used. Default: for ever. */
  refusalLifetime?: number;
}

const BOT_LIMIT_REACHED = "Discord refused too many calls of this bot; it waits, so that this host is not banned.";

export function createRestClients({
  apiRoot,
  traffic,
  invalidRequestLimit = createInvalidRequestLimit(),
  maxPerBot = MAX_PER_BOT,
  refusalLifetime = Number.POSITIVE_INFINITY,
}: Options): RestClients {
  const clientCache = createBoundedMap<REST>(MAX_CACHED_CLIENTS);
  const refusedTokens = createBoundedMap<{ until: number }>(4096);
  /** By token, for bots with recent refusals. */
  const botLimits = createBoundedMap<InvalidRequestLimit>(4096);
  const api = apiRoot.replace(/\/+$/, "");

  function countRefusal(token: string, { status, headers }: Response): void {
    const scope = headers.get("x-ratelimit-scope");
    if (!invalidRequestLimit.count(status, scope)) return;
    const own = botLimits.get(token) ?? createInvalidRequestLimit({ max: maxPerBot, message: BOT_LIMIT_REACHED });
    own.count(status, scope);
    botLimits.set(token, own);
  }

  async function open({ token, agentId }: Caller): Promise<REST> {
    const { REST } = await import("@discordjs/rest");
    const rest = new REST({
      api,
      version: "10",
      timeout: UPLOAD_TIMEOUT_MS,
      retries: 0,
      // Idle bots need no timers.
      hashSweepInterval: 0,
      handlerSweepInterval: 0,
      rejectOnRateLimit: ({ timeToReset, retryAfter }) => Math.max(timeToReset, retryAfter) > MAX_WAIT_MS,
      async makeRequest(url, { method, headers, body, signal }) {
        invalidRequestLimit.check();
        botLimits.get(token)?.check();
        const sent = typeof body === "string" || body instanceof FormData ? body : undefined;
        const given = new Headers(headers as Record<string, string>);
        const signals = [
          ...(signal ? [signal as AbortSignal] : []),
          ...(sent instanceof FormData ? [] : [AbortSignal.timeout(CALL_TIMEOUT_MS)]),
        ];
        const response = await fetch(url, {
          method: method ?? "GET",
          headers: given,
          ...(sent === undefined ? {} : { body: sent }),
          signal: AbortSignal.any(signals),
          redirect: "error",
        });
        countRefusal(token, response);
        if (response.status === 401 && given.has("authorization")) markTokenRefused(token);
        const received = Number(response.headers.get("content-length") ?? 0) || 0;
        if (agentId !== undefined) traffic?.(agentId, bodySize(sent), received);
        return response;
      },
    });
    return rest.setToken(token);
  }

  async function client(caller: Caller): Promise<REST> {
    const { token } = caller;
    if (!isToken(token)) throw new ChannelError("refused", "This is not the form of a Discord bot token.", "bot");
    if (Date.now() < (refusedTokens.get(token)?.until ?? 0)) throw tokenRefused();
    const known = clientCache.get(token);
    if (known) return known;
    const rest = await open(caller);
    clientCache.set(token, rest);
    return rest;
  }

  function markTokenRefused(token: string): void {
    clientCache.delete(token);
    refusedTokens.set(token, { until: Date.now() + refusalLifetime });
  }

  return {
    client,
    markTokenRefused,
    async call(caller, signal, { method, path, body, query, files, auth = true }) {
      const rest = await client(caller);
      const given = {
        ...(body === undefined ? {} : { body }),
        ...(query === undefined ? {} : { query }),
        ...(files && { files }),
      };
      return await rest[method](path, { signal, auth, ...given });
    },
    forget(token) {
      clientCache.delete(token);
      refusedTokens.delete(token);
    },
  };
}
