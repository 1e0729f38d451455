// Stores the settings of public pages: whether visitors may talk to the agent, and the greeting.
import type { Kernel } from "../../src/kernel/plugin.ts";

export interface PublicPageSettings {
  enabled: boolean;
  /** Shown to visitors before their first message; empty for none. */
  greeting: string;
}

export interface PublicPageStore {
  /** `enabled` is false until the owner switches the page on. */
  settingsOf(agentId: string): Promise<PublicPageSettings>;
  /** Those of these agents that visitors may talk to. */
  enabledAmong(agentIds: readonly string[]): Promise<ReadonlySet<string>>;
  /** Without a greeting, the stored one is kept. */
  update(agentId: string, changes: { enabled: boolean; greeting?: string | undefined }): Promise<PublicPageSettings>;
}

const UPSERT = `INSERT INTO public_pages (agent_id, enabled, greeting, updated_at) VALUES (?1, ?2, coalesce(?3, ''), ?4)
  ON CONFLICT (agent_id) DO UPDATE SET enabled = ?2, greeting = coalesce(?3, greeting), updated_at = ?4`;

const ENABLED_AMONG = `SELECT agent_id FROM public_pages
  WHERE agent_id IN (SELECT value FROM json_each(?)) AND enabled = 1`;

export function createPublicPageStore({ database }: Pick<Kernel, "database">): PublicPageStore {
  async function settingsOf(agentId: string): Promise<PublicPageSettings> {
    const { rows } = await database.read("SELECT enabled, greeting FROM public_pages WHERE agent_id = ?", [agentId]);
    return { enabled: rows[0]?.enabled === 1, greeting: String(rows[0]?.greeting ?? "") };
  }

  return {
    settingsOf,
    async enabledAmong(agentIds) {
      const { rows } = await database.read(ENABLED_AMONG, [JSON.stringify(agentIds)]);
      return new Set(rows.map(({ agent_id }) => String(agent_id)));
    },
    async update(agentId, { enabled, greeting }) {
      await database.write([{ sql: UPSERT, args: [agentId, enabled, greeting?.trim() ?? null, Date.now()] }]);
      return settingsOf(agentId);
    },
  };
}
