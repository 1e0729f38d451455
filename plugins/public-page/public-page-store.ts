// Whether anybody may talk to an agent at its public address, and what it says there first.
import type { Kernel } from "../../src/kernel/plugin.ts";

export interface PublicPageSettings {
  enabled: boolean;
  /** What visitors read before they write; empty for none. */
  greeting: string;
}

export interface PublicPageStore {
  /** Off, until the owner switches it on. */
  settingsOf(agentId: string): Promise<PublicPageSettings>;
  /** What is left out stays as it is. */
  update(agentId: string, changes: { enabled: boolean; greeting?: string | undefined }): Promise<PublicPageSettings>;
}

const UPSERT = `INSERT INTO public_pages (agent_id, enabled, greeting, updated_at) VALUES (?1, ?2, coalesce(?3, ''), ?4)
  ON CONFLICT (agent_id) DO UPDATE SET enabled = ?2, greeting = coalesce(?3, greeting), updated_at = ?4`;

export function createPublicPageStore({ database }: Pick<Kernel, "database">): PublicPageStore {
  async function settingsOf(agentId: string): Promise<PublicPageSettings> {
    const { rows } = await database.read("SELECT enabled, greeting FROM public_pages WHERE agent_id = ?", [agentId]);
    return { enabled: rows[0]?.enabled === 1, greeting: String(rows[0]?.greeting ?? "") };
  }

  return {
    settingsOf,
    async update(agentId, { enabled, greeting }) {
      await database.write([{ sql: UPSERT, args: [agentId, enabled, greeting?.trim() ?? null, Date.now()] }]);
      return settingsOf(agentId);
    },
  };
}
