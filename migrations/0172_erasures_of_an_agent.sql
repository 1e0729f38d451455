-- Erasures that an owner asks for are of one agent; NULL: an operator's, of all.
ALTER TABLE erasures ADD COLUMN agent_id TEXT;
CREATE INDEX erasures_by_agent ON erasures (agent_id, id) WHERE agent_id IS NOT NULL;
