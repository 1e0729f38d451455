// Resolves an agent's configured MCP server to what a connection needs: address, headers with credentials, sign-in.
import { join } from "node:path";
import { AppError, notFound } from "../../src/kernel/errors.ts";
import type { Kernel, ServiceOf } from "../../src/kernel/plugin.ts";
import { sha256Hex } from "../../src/kernel/util/tokens.ts";
import type { agents as agentsPlugin, McpServerSettings } from "../agents/index.ts";
import { fillCredentials } from "../agents/index.ts";
import type { HttpServer, StdioServer } from "./connections/connection.ts";
import type { ConnectionKey } from "./connections/connections.ts";
import { createOAuthProvider, type OAuthAddresses } from "./connections/oauth-provider.ts";
import type { ServerKey, SignInStore } from "./connections/sign-in-store.ts";
import { mcpSettings } from "./settings.ts";

/** A configured server, with the key of its connection. */
export interface Target {
  name: string;
  settings: McpServerSettings;
  key: ConnectionKey;
}

export interface Targets {
  /** The servers that are switched on, in the order of the configuration. */
  list(agentId: string): Promise<Target[]>;
  /** Throws 404 `MCP_SERVER_NOT_FOUND` for a server that is not there or switched off. */
  require(agentId: string, name: string): Promise<Target>;
  /** What a connection needs, and the secrets in it. Throws 400 where the configuration can't be used as it is. */
  resolve(target: Target): Promise<{ server: HttpServer | StdioServer; secrets: () => string[] }>;
  /** What is wrong with a command, and with which setting; undefined if it can be started. */
  commandProblem(settings: McpServerSettings): { key: "command" | "args"; message: string } | undefined;
  signInKey(target: Target): ServerKey;
  readonly addresses: OAuthAddresses;
  /** The folder of the agent's processes. */
  folderOf(agentId: string): string;
}

interface Deps {
  config: Kernel["config"];
  agents: Pick<ServiceOf<typeof agentsPlugin>, "settings" | "credentials">;
  signIns: Pick<SignInStore, "load" | "save">;
}

const digestOf = ({ url, headers, command, args }: McpServerSettings) =>
  sha256Hex(JSON.stringify(url === undefined ? [command, args] : [url, [...(headers ?? [])]]));

export function createTargets({ config, agents, signIns }: Deps): Targets {
  const { commands } = config.of(mcpSettings);
  const base = config.baseUrl;
  const addresses = { redirect: `${base}/api/mcp/callback`, clientMetadata: `${base}/api/mcp/client.json` };
  const folderOf = (agentId: string) => join(config.dataDir, "mcp", agentId);

  const signInKey = ({ name, settings, key }: Target) => ({
    agentId: key.agentId,
    name,
    digest: sha256Hex(settings.url ?? ""),
  });

  async function list(agentId: string): Promise<Target[]> {
    const { mcpServers } = await agents.settings(agentId);
    if (!mcpServers?.size) return [];
    return [...mcpServers].flatMap(([name, settings]) => {
      if (settings.enabled === false) return [];
      const isProcess = settings.command !== undefined;
      return [{ name, settings, key: { agentId, name, digest: digestOf(settings), isProcess } }];
    });
  }

  /** The headers with credentials in place of their names. Read at each request, so that a new credential counts at once. */
  async function headersOf({ settings, key }: Target, secrets: Set<string>): Promise<Map<string, string>> {
    const filled = await fillCredentials(key.agentId, settings.headers ?? new Map(), agents.credentials, unusable);
    for (const secret of filled.secrets) secrets.add(secret);
    return filled.headers;
  }

  async function resolveHttp(target: Target, url: string) {
    const ownSecrets = new Set<string>();
    const headers = () => headersOf(target, ownSecrets);
    // Names a missing credential before anything is sent.
    const names = [...(await headers()).keys()].map((name) => name.toLowerCase());
    if (names.includes("authorization")) {
      return { server: { url: new URL(url), headers, oauth: undefined }, secrets: () => [...ownSecrets] };
    }
    const signIn = await signIns.load(signInKey(target));
    const oauth = createOAuthProvider(addresses, signIn, (changed) => signIns.save(signInKey(target), changed));
    const tokens = () => [signIn.tokens?.access_token, signIn.tokens?.refresh_token].filter((one) => one !== undefined);
    return { server: { url: new URL(url), headers, oauth }, secrets: () => [...ownSecrets, ...tokens()] };
  }

  const allowedCommand = ({ command }: McpServerSettings) => commands.find(({ name }) => name === command);

  function commandProblem(settings: McpServerSettings): ReturnType<Targets["commandProblem"]> {
    const allowed = allowedCommand(settings);
    if (!allowed) return { key: "command", message: "The operator does not allow this command." };
    const isFixed = allowed.args !== undefined && (settings.args ?? []).length > 0;
    if (!isFixed) return undefined;
    return { key: "args", message: "The operator has fixed the arguments of this command: leave args out." };
  }

  function resolveProcess({ settings, key }: Target) {
    const allowed = allowedCommand(settings);
    const problem = commandProblem(settings);
    if (!allowed || problem) throw unusable(problem?.message ?? "");
    const { args = [] } = settings;
    const server = { command: allowed.command, args: [...(allowed.args ?? args)], folder: folderOf(key.agentId) };
    return { server, secrets: () => [] };
  }

  return {
    addresses,
    folderOf,
    list,
    signInKey,
    commandProblem,
    async require(agentId, name) {
      const found = (await list(agentId)).find((one) => one.name === name);
      if (!found) throw notFound("This agent has no such MCP server, or it is switched off.", "MCP_SERVER_NOT_FOUND");
      return found;
    },
    resolve: async (target) =>
      target.settings.url === undefined ? resolveProcess(target) : resolveHttp(target, target.settings.url),
  };
}

const unusable = (message: string) => new AppError(400, "MCP_UNUSABLE", message);
