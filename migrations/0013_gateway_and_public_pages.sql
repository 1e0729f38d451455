-- The gateway token of an agent: recognised by its hash, sealed so that its owner can see it again.
CREATE TABLE gateway_tokens (
  agent_id TEXT PRIMARY KEY REFERENCES agents (id) ON DELETE CASCADE,
  hash TEXT NOT NULL UNIQUE,
  sealed TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Whether anybody may talk to an agent at its public address; without a row nobody may.
CREATE TABLE public_pages (
  agent_id TEXT PRIMARY KEY REFERENCES agents (id) ON DELETE CASCADE,
  enabled INTEGER NOT NULL,
  -- What visitors read before they write; empty for none.
  greeting TEXT NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
