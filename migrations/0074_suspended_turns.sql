-- An approval suspends the turn that asks for it, so a request belongs to a step of a turn.
CREATE TABLE approvals_new (
  id TEXT PRIMARY KEY,
  agent_id TEXT NOT NULL REFERENCES agents (id) ON DELETE CASCADE,
  session_id TEXT NOT NULL,
  -- The inbox entry whose turn requested it, and the step of the call; NULL for requests of earlier versions.
  turn_id TEXT NOT NULL,
  step INTEGER,
  -- The short code by which the owner decides in a chat.
  code TEXT NOT NULL,
  platform TEXT NOT NULL,
  by_owner INTEGER NOT NULL CHECK (by_owner IN (0, 1)),
  tool TEXT NOT NULL,
  class TEXT NOT NULL CHECK (class IN ('read', 'write', 'spend', 'outside')),
  summary TEXT NOT NULL,
  -- The input as JSON, with secrets blacked out.
  input TEXT NOT NULL,
  -- The exact input that the owner has put in its place, sealed until the call has run.
  edited TEXT,
  status TEXT NOT NULL CHECK (status IN ('pending', 'approved', 'denied', 'expired')),
  scope TEXT CHECK (scope IN ('once', 'conversation', 'always')),
  -- Whether the owner was asked in a chat.
  asked INTEGER NOT NULL DEFAULT 0 CHECK (asked IN (0, 1)),
  requested_at INTEGER NOT NULL,
  -- Until then a pending request can be decided, and a grant for a conversation be used.
  expires_at INTEGER NOT NULL,
  decided_at INTEGER,
  decided_by TEXT,
  -- The platform on which the owner decided.
  decided_on TEXT,
  -- When the approved call began.
  used_at INTEGER
) STRICT, WITHOUT ROWID;
-- No turn waits for the older requests, so what is not decided or not used has expired: the agent asks again.
INSERT INTO approvals_new (id, agent_id, session_id, turn_id, code, platform, by_owner, tool, class, summary, input, status, scope,
    requested_at, expires_at, decided_at, decided_by, used_at)
  SELECT id, agent_id, session_id, turn_id, '', platform, by_owner, tool, class, summary, input,
    iif(status = 'pending' OR (status = 'approved' AND scope = 'once' AND used_at IS NULL), 'expired', status), scope,
    requested_at, expires_at, decided_at, decided_by, used_at FROM approvals;
DROP TABLE approvals;
ALTER TABLE approvals_new RENAME TO approvals;
CREATE INDEX approvals_by_agent ON approvals (agent_id, id);
CREATE UNIQUE INDEX approvals_by_step ON approvals (agent_id, turn_id, step);
CREATE INDEX approvals_granted ON approvals (agent_id, session_id, tool) WHERE scope = 'conversation';
CREATE INDEX approvals_pending ON approvals (agent_id, code) WHERE status = 'pending';
CREATE INDEX approvals_due ON approvals (expires_at) WHERE status = 'pending';
CREATE INDEX approvals_by_age ON approvals (requested_at);

-- NULL: the turn has never waited for an approval. 1: it waits, and no lane holds it. 0: it has waited and may go on.
ALTER TABLE inbox ADD COLUMN suspended INTEGER CHECK (suspended IN (0, 1));

-- What a turn has asked for is void when the turn ends, whichever way it ends.
CREATE TRIGGER approvals_end AFTER UPDATE OF status ON inbox
WHEN OLD.suspended IS NOT NULL AND NEW.status <> 'pending' BEGIN
  UPDATE approvals SET status = 'expired' WHERE agent_id = NEW.agent_id AND turn_id = NEW.id AND status = 'pending';
END;
