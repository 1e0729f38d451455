-- What a fact is about: the owner, another person, or the world.
ALTER TABLE memories ADD COLUMN kind TEXT NOT NULL DEFAULT 'owner' CHECK (kind IN ('owner', 'person', 'world'));
UPDATE memories SET kind = 'person' WHERE circle <> '';
-- The turn in which it was noted.
ALTER TABLE memories ADD COLUMN turn_id TEXT;
-- When an agent looked it up last.
ALTER TABLE memories ADD COLUMN used_at INTEGER;
