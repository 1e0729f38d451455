-- How long a turn has waited for its owner's approval: that is no time that its agent took to answer.
ALTER TABLE inbox ADD COLUMN waited_ms INTEGER NOT NULL DEFAULT 0;
-- Since when it waits; NULL while it does not.
ALTER TABLE inbox ADD COLUMN suspended_at INTEGER;
