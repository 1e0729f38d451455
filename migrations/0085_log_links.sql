-- What a line of an agent's log is about, as JSON: the ids of a turn, a schedule and the like by their kind. NULL for nothing.
ALTER TABLE agent_logs ADD COLUMN links TEXT;
