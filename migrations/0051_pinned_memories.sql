-- Pinned facts, which come first in every prompt.
ALTER TABLE memories ADD COLUMN pinned INTEGER NOT NULL DEFAULT 0;
CREATE INDEX memories_by_agent ON memories (agent_id, updated_at);
