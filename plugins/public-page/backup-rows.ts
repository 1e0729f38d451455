// Backup rows of an agent's public page: whether visitors may chat with the agent, and the greeting that they read.
import { t } from "elysia";
import type { Statement } from "../../src/kernel/database/database.ts";
import type { BackupTableRows, BackupTables } from "../agents/index.ts";
import { MAX_GREETING } from "./model.ts";

export type PublicPageBackupTable = "publicPage";

/** A row of the part `publicPage`; the part is empty for a page that was never set up. */
export interface PublicPageRow {
  enabled: 0 | 1;
  greeting: string;
  /** Epoch ms. */
  at: number;
  /** A JSON list; backups made before pages could be embedded have none. */
  embedOrigins?: string;
}

/** The page in an exported agent. */
export const exportedPublicPage = t.Object({
  enabled: t.Boolean({ description: "Whether visitors could chat; an import ignores it and leaves the page off" }),
  greeting: t.String({ maxLength: MAX_GREETING, error: `A greeting is text of at most ${MAX_GREETING} characters.` }),
});

export interface PublicPageBackupRows {
  readonly tables: BackupTables<PublicPageBackupTable>;
  /** Sets the page as it was; removes the setting where the backup has none. */
  restoreStatements(agentId: string, rows: BackupTableRows<PublicPageBackupTable>): Statement[];
}

export const publicPageBackupRows: PublicPageBackupRows = {
  tables: {
    publicPage: `SELECT json_group_array(json_object('enabled', enabled, 'greeting', greeting, 'at', updated_at,
        'embedOrigins', embed_origins))
      FROM public_pages WHERE agent_id = ?1`,
  },
  restoreStatements: (agentId, { publicPage }) => [
    { sql: "DELETE FROM public_pages WHERE agent_id = ?1", args: [agentId] },
    {
      sql: `INSERT INTO public_pages (agent_id, enabled, greeting, updated_at, embed_origins)
        SELECT ?1, value ->> 'enabled', value ->> 'greeting', value ->> 'at', coalesce(value ->> 'embedOrigins', '[]')
        FROM json_each(?2) LIMIT 1`,
      args: [agentId, publicPage],
    },
  ],
};
