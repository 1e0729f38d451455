// Opens a connection to one MCP server, over streamable HTTP or over the standard streams of a process.
import { mkdir } from "node:fs/promises";
import type {
  AuthProvider,
  Client,
  jsonSchemaValidator,
  OAuthClientProvider,
  StreamableHTTPClientTransport,
  Transport,
} from "@modelcontextprotocol/client";
import type { Outbound } from "../../../src/kernel/security/outbound.ts";
import { SECOND } from "../../../src/kernel/util/time.ts";
import { withTimeout } from "../../../src/kernel/util/timeout.ts";
import { createGuardedFetch } from "./guarded-fetch.ts";

/** To connect, with everything that OAuth needs for it. */
export const CONNECT_TIMEOUT_MS = 10 * SECOND;
const END_TIMEOUT_MS = 2 * SECOND;
const PROBE_TIMEOUT_MS = 4 * SECOND;
/** Pages of a list that are read; a page of a hostile server may be empty and name a next one. */
const MAX_PAGES = 5;
const MAX_STDERR = 500;
const MAX_STDIO_BYTES = 4_000_000;

export interface HttpServer {
  url: URL;
  headers(): Promise<ReadonlyMap<string, string>>;
  /** Undefined: the configuration has a header for authorization, so no sign-in is needed. */
  oauth: OAuthClientProvider | undefined;
}

export interface StdioServer {
  command: string;
  args: string[];
  /** The working folder of the process, and its home; made if it is missing. */
  folder: string;
}

export interface ConnectionOptions {
  server: HttpServer | StdioServer;
  /** The server's era of the protocol, if a former connection has found it out. */
  era: string | null;
  outbound: Pick<Outbound, "stream">;
  /** Called when the server says that its tools have changed. */
  onToolsChanged(): void;
  /** Called once, when the connection has ended for any reason. */
  onClose(): void;
}

export interface Connection {
  client: Client;
  close(): Promise<void>;
}

/** Accepts what a server returns: schemas of strangers are not compiled here. */
const acceptAll: jsonSchemaValidator = {
  getValidator: () => (input) => ({ valid: true, data: input as never, errorMessage: undefined }),
};

/** Connects, or rejects within the time limit: with UnauthorizedError of the library where the owner must sign in. */
export async function openConnection(options: ConnectionOptions): Promise<Connection> {
  const { server, era, onToolsChanged, onClose } = options;
  const { Client } = await import("@modelcontextprotocol/client");
  let stderr = "";
  const transport =
    "url" in server
      ? await httpTransport(server, options.outbound)
      : await stdioTransport(server, (text) => {
          stderr = (stderr + text).slice(-MAX_STDERR);
        });
  const client = new Client(
    { name: "Berth", version: "1.0.0" },
    {
      capabilities: {},
      versionNegotiation: { mode: era === "legacy" ? "legacy" : "auto", probe: { timeoutMs: PROBE_TIMEOUT_MS } },
      jsonSchemaValidator: acceptAll,
      listMaxPages: MAX_PAGES,
      listChanged: { tools: { autoRefresh: false, onChanged: (error) => void (error ?? onToolsChanged()) } },
    },
  );
  client.onclose = onClose;
  const close = async () => {
    // A server may keep a session long after the client has gone, so the session is ended here.
    if ("terminateSession" in transport) await endSession(transport);
    await client.close();
  };
  try {
    await withTimeout((signal) => client.connect(transport, { signal, timeout: CONNECT_TIMEOUT_MS }), {
      ms: CONNECT_TIMEOUT_MS,
      error: () => new Error(`It did not answer within ${CONNECT_TIMEOUT_MS / SECOND} s.`),
    });
    return { client, close };
  } catch (error) {
    client.onclose = () => undefined;
    await Promise.allSettled([close(), transport.close()]);
    if (stderr.trim() === "") throw error;
    throw new Error(`${error instanceof Error ? error.message : String(error)} It wrote: ${stderr.trim()}`, {
      cause: error,
    });
  }
}

async function endSession(transport: Pick<StreamableHTTPClientTransport, "terminateSession">): Promise<void> {
  const ended = transport.terminateSession().catch(() => undefined);
  await withTimeout(() => ended, { ms: END_TIMEOUT_MS, error: () => new Error("late") }).catch(() => undefined);
}

async function httpTransport(
  { url, headers, oauth }: HttpServer,
  outbound: Pick<Outbound, "stream">,
): Promise<StreamableHTTPClientTransport> {
  const { StreamableHTTPClientTransport } = await import("@modelcontextprotocol/client");
  return new StreamableHTTPClientTransport(url, {
    fetch: createGuardedFetch(outbound, url, headers),
    onInsufficientScope: "throw",
    ...(oauth && { authProvider: await serialized(oauth) }),
  });
}

/** Refreshes the tokens once for calls that are refused at the same time: servers take a refresh token only once. */
async function serialized(provider: OAuthClientProvider): Promise<AuthProvider> {
  const { auth, extractWWWAuthenticateParams, UnauthorizedError } = await import("@modelcontextprotocol/client");
  let refreshing: Promise<void> | undefined;
  return {
    token: async () => (await provider.tokens())?.access_token,
    async onUnauthorized({ response, serverUrl, fetchFn }) {
      const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(response);
      const refresh = async () => {
        const result = await auth(provider, {
          serverUrl,
          fetchFn,
          ...(resourceMetadataUrl && { resourceMetadataUrl }),
          ...(scope !== undefined && { scope }),
        });
        if (result !== "AUTHORIZED") throw new UnauthorizedError();
      };
      refreshing ??= refresh().finally(() => {
        refreshing = undefined;
      });
      await refreshing;
    },
  };
}

async function stdioTransport(
  { command, args, folder }: StdioServer,
  onStderr: (text: string) => void,
): Promise<Transport> {
  const { StdioClientTransport } = await import("@modelcontextprotocol/client/stdio");
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const transport = new StdioClientTransport({
    command,
    args,
    cwd: folder,
    // The library adds the path and the names of user and shell; Berth's own environment may hold keys.
    env: { HOME: folder },
    stderr: "pipe",
    maxBufferSize: MAX_STDIO_BYTES,
  });
  transport.stderr?.on("data", (bytes) => onStderr(String(bytes)));
  return transport;
}
