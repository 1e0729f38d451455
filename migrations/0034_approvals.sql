-- Tool calls that need the owner's approval. A decision is valid for one conversation.
CREATE TABLE approvals (
  id TEXT PRIMARY KEY,
  agent_id TEXT NOT NULL REFERENCES agents (id) ON DELETE CASCADE,
  session_id TEXT NOT NULL,
  -- The inbox entry whose turn requested it.
  turn_id TEXT NOT NULL,
  platform TEXT NOT NULL,
  by_owner INTEGER NOT NULL CHECK (by_owner IN (0, 1)),
  tool TEXT NOT NULL,
  class TEXT NOT NULL CHECK (class IN ('read', 'write', 'spend', 'outside')),
  summary TEXT NOT NULL,
  -- The input as JSON, with secrets blacked out; the digest is of the exact input.
  input TEXT NOT NULL,
  digest TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('pending', 'approved', 'denied', 'expired')),
  scope TEXT CHECK (scope IN ('once', 'conversation')),
  requested_at INTEGER NOT NULL,
  -- Until then a pending request can be decided, and an approved one be used.
  expires_at INTEGER NOT NULL,
  decided_at INTEGER,
  decided_by TEXT,
  -- When the approved call ran; NULL before, and for the scope `conversation`.
  used_at INTEGER,
  -- The entry, and the try of its turn, that used it: a later try of the same turn may make the call again.
  used_turn TEXT,
  used_attempt INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX approvals_by_agent ON approvals (agent_id, id);
CREATE UNIQUE INDEX approvals_pending ON approvals (agent_id, session_id, tool, digest) WHERE status = 'pending';
CREATE INDEX approvals_by_call ON approvals (agent_id, session_id, tool);
CREATE INDEX approvals_by_age ON approvals (requested_at);
