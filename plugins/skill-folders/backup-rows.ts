// Backup rows of skills as folders: which skills the conversations of an agent have loaded. The folders are the account's.
import type { Statement } from "../../src/kernel/database/database.ts";
import type { BackupTableRows, BackupTables } from "../agents/index.ts";

export type FolderBackupTable = "loadedSkills";

export interface FolderBackupRows {
  readonly tables: BackupTables<FolderBackupTable>;
  /** Must come after the statements that restore the sessions. */
  restoreStatements(agentId: string, rows: BackupTableRows<FolderBackupTable>): Statement[];
}

export const folderBackupRows: FolderBackupRows = {
  tables: {
    loadedSkills: `SELECT json_group_array(json_object('session', session_id, 'skill', skill_id, 'at', loaded_at))
      FROM (SELECT * FROM loaded_skills WHERE agent_id = ?1 ORDER BY session_id, skill_id)`,
  },

  restoreStatements: (agentId, { loadedSkills }) => [
    { sql: "DELETE FROM loaded_skills WHERE agent_id = ?1", args: [agentId] },
    {
      sql: `INSERT INTO loaded_skills (session_id, agent_id, skill_id, loaded_at)
        SELECT s.id, ?1, value ->> 'skill', value ->> 'at' FROM json_each(?2)
        JOIN sessions AS s ON s.id = value ->> 'session' AND s.agent_id = ?1`,
      args: [agentId, loadedSkills],
    },
  ],
};
