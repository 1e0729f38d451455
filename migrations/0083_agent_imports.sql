-- Where agents were imported from, so that the same folder is noticed the second time.
CREATE TABLE agent_imports (
  agent_id TEXT PRIMARY KEY NOT NULL REFERENCES agents (id) ON DELETE CASCADE,
  format TEXT NOT NULL,
  -- SHA-256 of the file's bytes, or of the folder's files.
  digest TEXT NOT NULL,
  -- SHA-256 of the folder's place on this machine; NULL for an upload.
  origin TEXT,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX agent_imports_digest ON agent_imports (digest);
CREATE INDEX agent_imports_origin ON agent_imports (origin) WHERE origin IS NOT NULL;
