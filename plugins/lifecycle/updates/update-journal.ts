// Records running updates in the database, so that the next start finds an update that was interrupted.
import type { Database, Statement } from "../../../src/kernel/database/database.ts";
import type { AgentStatus } from "../../agents/index.ts";

export interface UpdateRecord {
  agentId: string;
  /** Relative to the data folder. */
  backupPath: string;
  previousVersion: string;
  previousStatus: AgentStatus;
}

export interface UpdateJournal {
  /** Records an update; replaces the agent's earlier record. */
  beginStatement(update: UpdateRecord): Statement;
  endStatement(agentId: string): Statement;
  /** The updates that have not ended. */
  listUnfinished(): Promise<UpdateRecord[]>;
}

export function createUpdateJournal(database: Pick<Database, "read">): UpdateJournal {
  return {
    beginStatement: ({ agentId, backupPath, previousVersion, previousStatus }) => ({
      sql: `INSERT INTO agent_updates (agent_id, backup_path, previous_version, previous_status, started_at)
        VALUES (?, ?, ?, ?, ?) ON CONFLICT (agent_id) DO UPDATE SET backup_path = excluded.backup_path,
        previous_version = excluded.previous_version, previous_status = excluded.previous_status, started_at = excluded.started_at`,
      args: [agentId, backupPath, previousVersion, previousStatus, Date.now()],
    }),
    endStatement: (agentId) => ({ sql: "DELETE FROM agent_updates WHERE agent_id = ?", args: [agentId] }),
    async listUnfinished() {
      const { rows } = await database.read(
        "SELECT agent_id, backup_path, previous_version, previous_status FROM agent_updates",
      );
      return rows.map((row) => ({
        agentId: String(row.agent_id),
        backupPath: String(row.backup_path),
        previousVersion: String(row.previous_version),
        // A CHECK of the table allows nothing else.
        previousStatus: String(row.previous_status) as AgentStatus,
      }));
    },
  };
}
