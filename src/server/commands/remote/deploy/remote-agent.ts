// Reads what a service knows of an agent, as far as agent.json can say it.
import type { AgentConfig, AgentDetail, Client, KnowledgeFile } from "../../../../../packages/client/src/index.ts";

export interface RemoteChannel {
  channel: string;
  ownerId: string | null;
}

export interface RemoteAgent {
  agent: AgentDetail;
  config: AgentConfig;
  /** The version of the configuration, so that a change by somebody else is noticed. */
  configVersion: number;
  /** The keys of the agent's secrets, and those of `secrets` that are the same. */
  stored: readonly string[];
  matching: readonly string[];
  channels: readonly RemoteChannel[];
  files: readonly KnowledgeFile[];
}

/** @param secrets by the keys of credentials and the ids of channels */
export async function readRemoteAgent(
  client: Client,
  id: string,
  secrets: Record<string, string>,
): Promise<RemoteAgent> {
  const path = `/api/agents/${encodeURIComponent(id)}`;
  const [agent, { versions }, { stored, matching }, { channels }, files] = await Promise.all([
    client.agents.get(id),
    client.request<{ versions: { version: number; current: boolean }[] }>("GET", `${path}/config/versions`),
    client.request<{ stored: string[]; matching: string[] }>("POST", `${path}/credentials/compare`, {
      body: { values: secrets },
    }),
    client.request<{ channels: RemoteChannel[] }>("GET", `${path}/channels`),
    readFiles(client, id),
  ]);
  // Read after its number: a version that is stored in between is refused as a change by somebody else.
  const config = await client.agents.config(id);
  const configVersion = versions.find(({ current }) => current)?.version ?? 0;
  return { agent, config, configVersion, stored, matching, channels, files };
}

async function readFiles(client: Client, id: string): Promise<KnowledgeFile[]> {
  const all: KnowledgeFile[] = [];
  for (;;) {
    const { files } = await client.files.list(id, { limit: 100, offset: all.length });
    all.push(...files);
    if (files.length < 100) return all;
  }
}
