// Whether anybody may talk to an agent at its public address, and what it says there first.
import type { Kernel } from "../../src/plugin.ts";

export interface PublicPage {
  enabled: boolean;
  /** What visitors read before they write; empty for none. */
  greeting: string;
}

export interface PublicPages {
  /** Off, until the owner switches it on. */
  of(agentId: string): Promise<PublicPage>;
  /** What is left out stays as it is. */
  change(agentId: string, to: { enabled: boolean; greeting?: string | undefined }): Promise<PublicPage>;
}

const SET = `INSERT INTO public_pages (agent_id, enabled, greeting, updated_at) VALUES (?1, ?2, coalesce(?3, ''), ?4)
  ON CONFLICT (agent_id) DO UPDATE SET enabled = ?2, greeting = coalesce(?3, greeting), updated_at = ?4`;

export function createPublicPages({ database }: Pick<Kernel, "database">): PublicPages {
  async function of(agentId: string): Promise<PublicPage> {
    const { rows } = await database.read("SELECT enabled, greeting FROM public_pages WHERE agent_id = ?", [agentId]);
    return { enabled: rows[0]?.enabled === 1, greeting: String(rows[0]?.greeting ?? "") };
  }

  return {
    of,
    async change(agentId, { enabled, greeting }) {
      await database.write([{ sql: SET, args: [agentId, enabled, greeting?.trim() ?? null, Date.now()] }]);
      return of(agentId);
    },
  };
}
