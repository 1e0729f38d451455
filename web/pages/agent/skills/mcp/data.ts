// The agent's MCP servers: what its configuration says of them, and what is known of each.

import { useQuery, useQueryClient } from "@tanstack/react-query";
import type { ServerItem, ToolItem } from "../../../../../plugins/mcp/model.ts";
import { api, path } from "../../../../api/api.ts";
import { useLive } from "../../../../api/events.ts";
import { useConfiguration, withKey } from "../../config/configuration.ts";
import type { Skill } from "../words.ts";

export type { ServerItem, ToolItem };

/** A member of `mcpServers` in the configuration; keys that this page does not show stay as they are. */
export interface ServerConfig {
  url?: string;
  command?: string;
  args?: string[];
  headers?: Record<string, string>;
  tools?: string[];
  reads?: string[];
  trusted?: boolean;
  access?: "owner" | "everyone";
  enabled?: boolean;
}

export interface Server {
  name: string;
  config: ServerConfig;
  isOn: boolean;
  /** Undefined for one that is off in the configuration. */
  item: ServerItem | undefined;
}

interface ServerList {
  servers: ServerItem[];
  commands: { name: string; args: boolean }[];
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function serversOf({ mcpServers }: Record<string, unknown>): Record<string, ServerConfig> {
  return isObject(mcpServers) ? (mcpServers as Record<string, ServerConfig>) : {};
}

const skillIdOf = (server: string) => `mcp:${server}`;
const LOOK_AGAIN_MS = 2_000;
const isBeingLookedAt = ({ state }: ServerItem) => state === "connecting";

export function useServers(agentId: string) {
  const client = useQueryClient();
  const queryKey = ["agent", agentId, "mcp"] as const;
  const list = useQuery({
    queryKey,
    queryFn: () => api.get<ServerList>(path`/api/agents/${agentId}/mcp`),
    // The event that a server was looked at may have come before this page listens.
    refetchInterval: ({ state }) => (state.data?.servers.some(isBeingLookedAt) ? LOOK_AGAIN_MS : false),
  });
  useLive(queryKey, ["mcp."], ({ data }) => data.agentId === agentId);
  useLive(["agent", agentId, "skills"], ["mcp."], ({ data }) => data.agentId === agentId);
  const configuration = useConfiguration(agentId);
  const skills = useQuery({
    queryKey: ["agent", agentId, "skills"],
    queryFn: () => api.get<{ skills: Skill[] }>(path`/api/agents/${agentId}/skills`),
  });
  /** A server is a skill, too, which may be switched off over the API. */
  const isSkillOff = (name: string) =>
    skills.data?.skills.some(({ id, enabled }) => id === skillIdOf(name) && !enabled) ?? false;
  const { data: known } = list;
  const { data: configured } = configuration;

  const changed = (servers: Record<string, ServerConfig>) => (config: Record<string, unknown>) =>
    withKey(config, "mcpServers", servers);
  const change = (name: string, changes: Partial<ServerConfig>) =>
    configuration.save((config) => {
      const servers = serversOf(config);
      return changed({ ...servers, [name]: { ...servers[name], ...changes } })(config);
    });
  const refresh = () => client.invalidateQueries({ queryKey: ["agent", agentId] });
  const addressOf = (name: string) => path`/api/agents/${agentId}/mcp/${name}`;

  return {
    error: list.error ?? configuration.error,
    refetch: () => void Promise.all([list.refetch(), configuration.refetch()]),
    commands: known?.commands ?? [],
    /** A change would say that the owner has read what came in a file. */
    isLocked: configured?.imported ?? false,
    servers:
      known &&
      configured &&
      Object.entries(serversOf(configured.config)).map(
        ([name, config]): Server => ({
          name,
          config,
          isOn: config.enabled !== false && !isSkillOff(name),
          item: known.servers.find((one) => one.name === name),
        }),
      ),
    change,
    async switchTo(name: string, enabled: boolean): Promise<void> {
      if (enabled && isSkillOff(name)) {
        await api.post("/api/agent", { action: "update-skill", agentId, skillId: skillIdOf(name), enabled });
      }
      change(name, { enabled });
    },
    async add(name: string, server: ServerConfig, key: string): Promise<void> {
      const { headers, secret } = key === "" ? { headers: undefined, secret: undefined } : headerFor(name);
      if (secret) await api.post("/api/agent", { action: "set-credential", agentId, key: secret, value: key });
      await configuration.saveNow((config) =>
        changed({ ...serversOf(config), [name]: { ...server, ...(headers && { headers }) } })(config),
      );
      await refresh();
    },
    /** Removes the server and the key that was given for it. */
    async remove(name: string): Promise<void> {
      await configuration.saveNow((config) => {
        const { [name]: _, ...rest } = serversOf(config);
        return changed(rest)(config);
      });
      const { secret } = headerFor(name);
      await api.post("/api/agent", { action: "set-credential", agentId, key: secret, value: "" });
      await refresh();
    },
    async test(name: string): Promise<ServerItem> {
      try {
        return await api.post<ServerItem>(`${addressOf(name)}/test`);
      } finally {
        await client.invalidateQueries({ queryKey });
      }
    },
    async forgetSignIn(name: string): Promise<void> {
      await api.delete(`${addressOf(name)}/sign-in`);
      await client.invalidateQueries({ queryKey });
    },
    async acceptChange(name: string, tool: string): Promise<void> {
      await api.post(`${addressOf(name)}${path`/tools/${tool}/accept`}`);
      await client.invalidateQueries({ queryKey });
    },
  };
}

export type Servers = ReturnType<typeof useServers>;

/** The header for a key that is given on this page, and the name under which the key is kept. */
function headerFor(name: string) {
  const secret = `MCP_${name.toUpperCase().replace(/[^A-Z0-9]/g, (letter) => `_${letter.charCodeAt(0)}_`)}`.slice(
    0,
    64,
  );
  return { secret, headers: { Authorization: `Bearer \${credential:${secret}}` } };
}
