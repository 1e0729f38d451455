-- Pinned facts come first in every prompt, and are never deleted to make room.
ALTER TABLE memories ADD COLUMN pinned INTEGER NOT NULL DEFAULT 0;
DROP INDEX memories_recent;
CREATE INDEX memories_recent ON memories (agent_id, circle, pinned, updated_at);
