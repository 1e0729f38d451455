// The client of Berth's API: for browsers, Node, Bun and Deno, without dependencies.
import type {
  Account,
  Agent,
  AgentChange,
  AgentConfig,
  AgentDetail,
  ConfigAnswer,
  ConfiguredAgent,
  CreatedAgent,
  EventType,
  FileAnswer,
  FileList,
  LogLine,
  NewAgent,
  SignedIn,
  Started,
  Stopped,
  Upload,
  UploadList,
} from "./api-types.ts";
import { type Chat, createChat, type Message } from "./chat.ts";
import { type DeviceSignIn, signInWithDevice } from "./device.ts";
import { type ClientOptions, createHttp, type RequestOptions } from "./http.ts";
import { follow, type StreamOptions } from "./sse.ts";

export type * from "./api-types.ts";
export type { Chat, ChatEvent, Message, Reply } from "./chat.ts";
export type { DeviceSignIn, Scope } from "./device.ts";
export { BerthError, ConnectionError, type Issue } from "./errors.ts";
export type { ClientOptions, RequestOptions } from "./http.ts";
export type { StreamOptions } from "./sse.ts";

/** Something that happened in the account. */
export interface BerthEvent {
  /** The place to resume from. */
  id: string;
  type: EventType;
  /** ISO 8601. */
  timestamp: string;
  data: Record<string, unknown>;
}

export type Bytes = Blob | ArrayBuffer | Uint8Array;

export type Client = ReturnType<typeof createClient>;

/**
 * Makes a client. Nothing is sent until one of its functions is called. They throw BerthError for what the service refuses,
 * ConnectionError if it can't be reached, and the signal's reason when they are aborted.
 *
 * @example
 * const berth = createClient({ url: "https://berth.example.com", key: process.env.BERTH_KEY });
 * for await (const event of berth.chat(agentId, "Good morning")) if (event.type === "delta") process.stdout.write(event.text);
 */
export function createClient(options: ClientOptions = {}) {
  const http = createHttp(options);
  const { json } = http;
  const ofAgent = (id: string, path = "") => `/api/agents/${encodeURIComponent(id)}${path}`;
  const operate =
    <T>(operation: string) =>
    (id: string) =>
      json<T>("POST", ofAgent(id, `/${operation}`));

  return {
    /** The address of the service. */
    url: http.base,
    /** Sends any request of the API, with the same retries. Resolves with its JSON. */
    request: <T = unknown>(method: string, path: string, request?: RequestOptions) => json<T>(method, path, request),

    /** Begins a session with a password. With two-factor on, give the code as `totp`. The browser, or this client, keeps it. */
    signIn: (credentials: { email: string; password: string; totp?: string }) =>
      json<SignedIn>("POST", "/api/auth/callback/credentials", { body: credentials }),
    /** Ends the session. */
    async signOut(): Promise<void> {
      await http.send("POST", "/api/auth/signout");
    },
    /** Resolves with an API key that a person has approved in the browser, for programs of theirs. */
    signInWithDevice: (request: DeviceSignIn) => signInWithDevice(http, request),
    /** The account of the key or the session. */
    account: () => json<Account>("GET", "/api/settings"),

    agents: {
      /** All agents of the account, newest first. */
      async *list(): AsyncGenerator<Agent, void> {
        let cursor: string | undefined;
        do {
          const page: { agents: Agent[]; nextCursor?: string } = await json("GET", "/api/agents/provision", {
            query: { limit: 100, cursor },
          });
          yield* page.agents;
          cursor = page.nextCursor;
        } while (cursor);
      },
      get: async (id: string) => (await json<{ agent: AgentDetail }>("GET", ofAgent(id))).agent,
      /** @param idempotencyKey with the same one, also a later call makes no second agent */
      create: (agent: NewAgent, idempotencyKey?: string) =>
        json<CreatedAgent>("POST", "/api/agents", { body: agent, idempotencyKey }),
      /** Changes the name, the model or the whole configuration; what is left out stays. */
      change: (id: string, change: AgentChange) => json<ConfiguredAgent>("PATCH", ofAgent(id), { body: change }),
      config: async (id: string) => (await json<ConfigAnswer>("GET", ofAgent(id, "/config"))).config,
      /** Replaces the whole configuration. Resolves with it, and with warnings about keys that have no effect. */
      configure: (id: string, config: AgentConfig) =>
        json<ConfigAnswer>("PUT", ofAgent(id, "/config"), { body: config }),
      start: operate<Started>("start"),
      stop: operate<Stopped>("stop"),
      restart: operate<Started>("restart"),
      /** Deletes an agent with all its data. */
      async delete(id: string): Promise<void> {
        await http.send("DELETE", ofAgent(id));
      },
      /** Stores a secret of an agent: the key of a provider (`provider_1`), or one with a name of yours; empty: deletes it. */
      async setCredential(id: string, key: string, value: string): Promise<void> {
        await http.send("POST", "/api/agent", { body: { action: "set-credential", agentId: id, key, value } });
      },
    },

    /**
     * Sends a message. Iterate over the result for the deltas, tool calls, files and the reply, or await its `reply()`. Each iteration
     * sends it once. Needs the scopes `chat` and `read`.
     */
    chat: (agentId: string, message: string | Message, { signal }: { signal?: AbortSignal } = {}): Chat =>
      createChat(http, agentId, message, signal),

    /** What happens in the account, from now on or from after `lastEventId`, without gaps; types such as `agent.*`. */
    async *events({ types, ...stream }: StreamOptions & { types?: string[] } = {}): AsyncGenerator<BerthEvent, void> {
      for await (const { id, data } of follow(http, "/api/events", { types: types?.join(",") }, stream)) {
        yield { id, ...(data as Omit<BerthEvent, "id">) };
      }
    },

    /** The newest lines of an agent's log, oldest first; with `follow` also those to come. */
    async *logs(
      agentId: string,
      {
        follow: isFollowing = false,
        level,
        limit = 50,
        ...stream
      }: StreamOptions & { follow?: boolean; level?: string; limit?: number } = {},
    ): AsyncGenerator<LogLine, void> {
      let { lastEventId } = stream;
      if (!lastEventId) {
        const found = await json<{ logs: LogLine[] }>("GET", ofAgent(agentId, "/logs"), {
          query: { limit, level },
          signal: stream.signal,
        });
        yield* found.logs.reverse();
        lastEventId = found.logs.at(-1)?.id;
      }
      if (!isFollowing) return;
      const lines = follow(http, ofAgent(agentId, "/logs"), { follow: "1", level }, { ...stream, lastEventId });
      for await (const { data } of lines) yield data as LogLine;
    },

    /** Files that are sent with messages. */
    uploads: {
      add: (agentId: string, file: Bytes, name = file instanceof File ? file.name : "file") =>
        json<Upload>("POST", ofAgent(agentId, "/uploads"), {
          query: { name },
          body: file,
          headers: { "content-type": (file instanceof Blob && file.type) || "application/octet-stream" },
        }),
      list: async (agentId: string) => (await json<UploadList>("GET", ofAgent(agentId, "/uploads"))).uploads,
      get: async (agentId: string, id: string) =>
        (await http.send("GET", ofAgent(agentId, `/uploads/${encodeURIComponent(id)}`))).blob(),
      async delete(agentId: string, id: string): Promise<void> {
        await http.send("DELETE", ofAgent(agentId, `/uploads/${encodeURIComponent(id)}`));
      },
    },

    /** Files that an agent knows. */
    files: {
      add: async (agentId: string, file: Blob, name = file instanceof File ? file.name : "file") => {
        const body = new FormData();
        body.set("file", file, name);
        return (await json<FileAnswer>("POST", ofAgent(agentId, "/files"), { body })).file;
      },
      list: (agentId: string, query: { limit?: number; offset?: number } = {}) =>
        json<FileList>("GET", ofAgent(agentId, "/files"), { query }),
      async delete(agentId: string, id: string): Promise<void> {
        await http.send("DELETE", ofAgent(agentId, `/files/${encodeURIComponent(id)}`));
      },
    },
  };
}
