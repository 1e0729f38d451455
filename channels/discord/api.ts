// Calls to Discord's REST API. A client is made when a bot has something to say and forgotten when others have said more since.
import type { REST, RouteLike } from "discord.js";
import { type Binding, ChannelError } from "../channel.ts";
import { createRecent } from "../shared/recent.ts";
import { tokenRefused } from "./errors.ts";
import { createGuard, type Guard, SHARE } from "./guard.ts";
import { isSnowflake } from "./peer.ts";

/** It goes into a header; its first part is the bot's id. https://discord.com/developers/docs/reference#authentication */
const TOKEN = /^([\w-]{16,32})\.[\w-]{1,32}\.[\w-]{8,128}$/;

/** What can't be a token is not asked about: each refusal counts against all bots of this host. */
function isToken(token: string): boolean {
  const id = TOKEN.exec(token)?.[1];
  return id !== undefined && isSnowflake(Buffer.from(id, "base64").toString("latin1"));
}
const CLIENTS = 256;
const TIMEOUT = 15_000;
/** Waiting for a limit longer than this is the caller's. */
const LONGEST_WAIT = 1_000;

/** Bytes of a call in the name of the agent whose bot it is. */
export type Traffic = (agentId: string, sent: number, received: number) => void;

/** Whose calls; without an agent while nobody has the bot yet. */
export type Caller = Pick<Binding, "token"> & Partial<Pick<Binding, "agentId">>;

export interface Call {
  method: "get" | "post" | "patch" | "put" | "delete";
  path: RouteLike;
  body?: unknown;
  query?: URLSearchParams;
  /** False where the address itself holds the authority: interactions and their answers. */
  auth?: boolean;
}

export interface Apis {
  /** Makes a call; what it throws is Discord's answer, or that there was none. */
  call(caller: Caller, signal: AbortSignal, call: Call): Promise<unknown>;
  /** The client itself, for the library's own calls. Throws for a token that Discord refused. */
  client(caller: Caller): Promise<REST>;
  /** A token that was refused is not used again: too many such calls ban the host. */
  refused(token: string): void;
  /** The token may be tried again. */
  forget(token: string): void;
}

interface Options {
  apiRoot: string;
  traffic?: Traffic | undefined;
  guard?: Guard;
  /** Refusals of one bot within ten minutes, before it waits. */
  share?: number;
  /** How long a token that was refused is not used again, in milliseconds; for ever unless told otherwise. */
  deadFor?: number;
}

const ONE = "Discord refused too many calls of this bot; it waits, so that this host is not banned.";

export function createApis({
  apiRoot,
  traffic,
  guard = createGuard(),
  share = SHARE,
  deadFor = Number.POSITIVE_INFINITY,
}: Options): Apis {
  const recent = createRecent<REST>(CLIENTS);
  const dead = createRecent<{ until: number }>(4096);
  /** Of bots that were refused something lately. */
  const shares = createRecent<Guard>(4096);
  const api = apiRoot.replace(/\/+$/, "");

  function count(token: string, { status, headers }: Response): void {
    const scope = headers.get("x-ratelimit-scope");
    if (!guard.count(status, scope)) return;
    const own = shares.get(token) ?? createGuard({ most: share, says: ONE });
    own.count(status, scope);
    shares.set(token, own);
  }

  async function open({ token, agentId }: Caller): Promise<REST> {
    const { REST } = await import("@discordjs/rest");
    const rest = new REST({
      api,
      version: "10",
      timeout: TIMEOUT,
      retries: 0,
      // No timers for bots that have nothing to say.
      hashSweepInterval: 0,
      handlerSweepInterval: 0,
      rejectOnRateLimit: ({ timeToReset, retryAfter }) => Math.max(timeToReset, retryAfter) > LONGEST_WAIT,
      async makeRequest(url, { method, headers, body, signal }) {
        guard.check();
        shares.get(token)?.check();
        const text = typeof body === "string" ? body : undefined;
        const given = new Headers(headers as Record<string, string>);
        const response = await fetch(url, {
          method: method ?? "GET",
          headers: given,
          ...(text === undefined ? {} : { body: text }),
          signal: (signal ?? null) as AbortSignal | null,
          redirect: "error",
        });
        count(token, response);
        if (response.status === 401 && given.has("authorization")) refused(token);
        const received = Number(response.headers.get("content-length") ?? 0) || 0;
        if (agentId !== undefined) traffic?.(agentId, Buffer.byteLength(text ?? ""), received);
        return response as unknown as Awaited<ReturnType<REST["options"]["makeRequest"]>>;
      },
    });
    return rest.setToken(token);
  }

  async function client(caller: Caller): Promise<REST> {
    const { token } = caller;
    if (!isToken(token)) throw new ChannelError("refused", "This is not the form of a Discord bot token.", "bot");
    if (Date.now() < (dead.get(token)?.until ?? 0)) throw tokenRefused();
    const known = recent.get(token);
    if (known) return known;
    const rest = await open(caller);
    recent.set(token, rest);
    return rest;
  }

  function refused(token: string): void {
    recent.delete(token);
    dead.set(token, { until: Date.now() + deadFor });
  }

  return {
    client,
    refused,
    async call(caller, signal, { method, path, body, query, auth = true }) {
      const rest = await client(caller);
      const given = { ...(body === undefined ? {} : { body }), ...(query === undefined ? {} : { query }) };
      return await rest[method](path, { signal: signal as never, auth, ...given });
    },
    forget(token) {
      recent.delete(token);
      dead.delete(token);
    },
  };
}
