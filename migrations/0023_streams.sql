-- Live streams, at most one per agent. The key is stored as a hash, to look it up, and sealed, to show it to its owner again.
CREATE TABLE live_streams (
  agent_id TEXT PRIMARY KEY REFERENCES agents (id) ON DELETE CASCADE,
  -- The public id, which is part of the stream's address.
  id TEXT NOT NULL UNIQUE,
  key_hash TEXT NOT NULL UNIQUE,
  key_sealed TEXT NOT NULL,
  -- The state in the last `stream.state` event, and when it began.
  active INTEGER NOT NULL,
  since INTEGER NOT NULL,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
