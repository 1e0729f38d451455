-- How many web searches an agent has made on its last day with one, so that a limit by day holds over restarts.
CREATE TABLE web_searches (
  agent_id TEXT PRIMARY KEY REFERENCES agents (id) ON DELETE CASCADE,
  -- Days since 1970, UTC.
  day INTEGER NOT NULL,
  count INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
