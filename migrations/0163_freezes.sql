-- Freezes: an admin pauses an account with all of its agents, or one agent. NULL: not frozen.
ALTER TABLE users ADD COLUMN frozen_at INTEGER;
ALTER TABLE users ADD COLUMN frozen_reason TEXT;

-- frozen_at, frozen_reason: of the agent itself. owner_frozen: with its owner's account. While either holds, status is
-- 'stopped', wanted is 'down', and thawed_status is the status that the agent has again afterwards; else that is NULL.
ALTER TABLE agents ADD COLUMN frozen_at INTEGER;
ALTER TABLE agents ADD COLUMN frozen_reason TEXT;
ALTER TABLE agents ADD COLUMN owner_frozen INTEGER NOT NULL DEFAULT 0;
ALTER TABLE agents ADD COLUMN thawed_status TEXT;

-- The conversations on channels in which it was said that the agent is paused. Deleted when it is frozen no longer.
CREATE TABLE pause_notices (
  agent_id TEXT NOT NULL REFERENCES agents (id) ON DELETE CASCADE,
  platform TEXT NOT NULL,
  peer TEXT NOT NULL,
  PRIMARY KEY (agent_id, platform, peer)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER agents_go_on AFTER UPDATE OF thawed_status ON agents WHEN OLD.thawed_status IS NOT NULL AND NEW.thawed_status IS NULL
BEGIN
  DELETE FROM pause_notices WHERE agent_id = NEW.id;
END;
