-- Live streams: one of an agent, recognised by the hash of the key that its publisher shows, sealed so that its owner can see it again.
CREATE TABLE live_streams (
  agent_id TEXT PRIMARY KEY REFERENCES agents (id) ON DELETE CASCADE,
  -- Public: the name under which it is played.
  id TEXT NOT NULL UNIQUE,
  key_hash TEXT NOT NULL UNIQUE,
  key_sealed TEXT NOT NULL,
  -- Whether it is on the air as far as its owner was told, and since when it is or is not.
  active INTEGER NOT NULL,
  since INTEGER NOT NULL,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
