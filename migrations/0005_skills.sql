-- Skills: which are switched on, what agents remember, and what they have promised to say later.
CREATE TABLE agent_skills (
  agent_id TEXT NOT NULL REFERENCES agents (id) ON DELETE CASCADE,
  skill_id TEXT NOT NULL,
  enabled INTEGER NOT NULL CHECK (enabled IN (0, 1)),
  PRIMARY KEY (agent_id, skill_id)
) STRICT, WITHOUT ROWID;

-- seq is a rowid that VACUUM keeps, since the search index refers to it.
-- circle: '' is what the owner's conversations know; else `platform:peer`, whose conversations alone know it.
CREATE TABLE memories (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  agent_id TEXT NOT NULL REFERENCES agents (id) ON DELETE CASCADE,
  circle TEXT NOT NULL,
  content TEXT NOT NULL,
  -- Of the content in lower case: the same fact told twice is one row.
  digest TEXT NOT NULL,
  source TEXT NOT NULL CHECK (source IN ('agent', 'compaction', 'owner')),
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  UNIQUE (agent_id, circle, digest)
) STRICT;
CREATE INDEX memories_recent ON memories (agent_id, circle, updated_at);

-- The agent is one word of the index, so that a search reads the entries of one agent only.
CREATE VIRTUAL TABLE memories_search USING fts5 (
  content,
  agent,
  content = '',
  contentless_delete = 1,
  tokenize = "unicode61 remove_diacritics 2"
);

CREATE TRIGGER memories_search_insert AFTER INSERT ON memories
BEGIN
  INSERT INTO memories_search (rowid, content, agent) VALUES (NEW.seq, NEW.content, replace(NEW.agent_id, '-', ''));
END;

CREATE TRIGGER memories_search_delete AFTER DELETE ON memories
BEGIN
  DELETE FROM memories_search WHERE rowid = OLD.seq;
END;

CREATE TRIGGER memories_search_update AFTER UPDATE OF content ON memories
BEGIN
  DELETE FROM memories_search WHERE rowid = OLD.seq;
  INSERT INTO memories_search (rowid, content, agent) VALUES (NEW.seq, NEW.content, replace(NEW.agent_id, '-', ''));
END;

-- dedupe names the request that set it: a message that is worked on again sets nothing twice.
CREATE TABLE reminders (
  id TEXT PRIMARY KEY,
  agent_id TEXT NOT NULL REFERENCES agents (id) ON DELETE CASCADE,
  session_id TEXT NOT NULL,
  platform TEXT NOT NULL,
  peer TEXT NOT NULL,
  by_owner INTEGER NOT NULL CHECK (by_owner IN (0, 1)),
  text TEXT NOT NULL,
  dedupe TEXT NOT NULL,
  due_at INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  fired_at INTEGER,
  UNIQUE (agent_id, dedupe)
) STRICT;
CREATE INDEX reminders_due ON reminders (agent_id, fired_at, due_at);
