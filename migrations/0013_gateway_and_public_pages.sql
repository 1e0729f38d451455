-- The gateway token of an agent: found by its hash, and sealed so that its owner can see it again.
CREATE TABLE gateway_tokens (
  agent_id TEXT PRIMARY KEY REFERENCES agents (id) ON DELETE CASCADE,
  hash TEXT NOT NULL UNIQUE,
  sealed TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Whether visitors may talk to an agent at its public address; without a row they may not.
CREATE TABLE public_pages (
  agent_id TEXT PRIMARY KEY REFERENCES agents (id) ON DELETE CASCADE,
  enabled INTEGER NOT NULL,
  -- Shown to visitors before their first message; empty for none.
  greeting TEXT NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
