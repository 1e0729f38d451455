// The backups of an agent, as the API has them.

/** An item of `GET /api/agents/:id/backups`. */
export interface Backup {
  path: string;
  size: number;
  createdAt: string;
  reason: "update" | "rollback" | "reset-memory" | "manual" | null;
}

export const backupsKey = (agentId: string) => ["backups", agentId] as const;
