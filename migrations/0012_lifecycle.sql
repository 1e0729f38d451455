-- Running updates: the state to return to if the update fails, also after the process was killed.
CREATE TABLE agent_updates (
  agent_id TEXT PRIMARY KEY REFERENCES agents (id) ON DELETE CASCADE,
  backup_path TEXT NOT NULL,
  previous_version TEXT NOT NULL,
  previous_status TEXT NOT NULL CHECK (previous_status IN ('running', 'active', 'stopped', 'error')),
  started_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
