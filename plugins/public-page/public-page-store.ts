// Stores the settings of public pages: whether visitors may talk to the agent, and the greeting.
import type { Kernel } from "../../src/kernel/plugin.ts";

export interface PublicPageSettings {
  enabled: boolean;
  /** Shown to visitors before their first message; empty for none. */
  greeting: string;
  /** Origins of sites that may show the page in a frame. */
  embedOrigins: string[];
}

export interface PublicPageChanges {
  enabled: boolean;
  greeting?: string | undefined;
  embedOrigins?: readonly string[] | undefined;
}

export interface PublicPageStore {
  /** `enabled` is false until the owner switches the page on. */
  settingsOf(agentId: string): Promise<PublicPageSettings>;
  /** Those of these agents that visitors may talk to. */
  enabledAmong(agentIds: readonly string[]): Promise<ReadonlySet<string>>;
  /** Without a greeting or origins, the stored ones are kept. */
  update(agentId: string, changes: PublicPageChanges): Promise<PublicPageSettings>;
}

const UPSERT = `INSERT INTO public_pages (agent_id, enabled, greeting, updated_at, embed_origins)
  VALUES (?1, ?2, coalesce(?3, ''), ?4, coalesce(?5, '[]'))
  ON CONFLICT (agent_id) DO UPDATE SET enabled = ?2, greeting = coalesce(?3, greeting), updated_at = ?4,
    embed_origins = coalesce(?5, embed_origins)`;
const SELECT = "SELECT enabled, greeting, embed_origins FROM public_pages WHERE agent_id = ?";

const ENABLED_AMONG = `SELECT agent_id FROM public_pages
  WHERE agent_id IN (SELECT value FROM json_each(?)) AND enabled = 1`;

export function createPublicPageStore({ database }: Pick<Kernel, "database">): PublicPageStore {
  async function settingsOf(agentId: string): Promise<PublicPageSettings> {
    const [row] = (await database.read(SELECT, [agentId])).rows;
    const embedOrigins = JSON.parse(String(row?.embed_origins ?? "[]")) as string[];
    return { enabled: row?.enabled === 1, greeting: String(row?.greeting ?? ""), embedOrigins };
  }

  return {
    settingsOf,
    async enabledAmong(agentIds) {
      const { rows } = await database.read(ENABLED_AMONG, [JSON.stringify(agentIds)]);
      return new Set(rows.map((row) => String(row.agent_id)));
    },
    async update(agentId, { enabled, greeting, embedOrigins }) {
      const origins = embedOrigins === undefined ? null : JSON.stringify(embedOrigins);
      await database.write([{ sql: UPSERT, args: [agentId, enabled, greeting?.trim() ?? null, Date.now(), origins] }]);
      return settingsOf(agentId);
    },
  };
}
