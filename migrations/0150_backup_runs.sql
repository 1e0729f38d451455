-- How the backups that the service has made, or tried to make, ended.
CREATE TABLE backup_runs (
  -- Epoch ms.
  started_at INTEGER PRIMARY KEY,
  ended_at INTEGER NOT NULL,
  name TEXT NOT NULL,
  -- Bytes; NULL if it failed.
  bytes INTEGER,
  -- Why it failed; NULL if it is complete and verified.
  error TEXT
) STRICT;
