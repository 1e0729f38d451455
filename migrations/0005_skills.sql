-- Skills: which are enabled, the memory of agents, and their reminders.
CREATE TABLE agent_skills (
  agent_id TEXT NOT NULL REFERENCES agents (id) ON DELETE CASCADE,
  skill_id TEXT NOT NULL,
  enabled INTEGER NOT NULL CHECK (enabled IN (0, 1)),
  PRIMARY KEY (agent_id, skill_id)
) STRICT, WITHOUT ROWID;

-- seq is a stable rowid, which VACUUM keeps: the search index refers to it.
-- circle: the conversations that know the entry: '' for those of the owner, else `platform:peer`.
CREATE TABLE memories (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  agent_id TEXT NOT NULL REFERENCES agents (id) ON DELETE CASCADE,
  circle TEXT NOT NULL,
  content TEXT NOT NULL,
  -- Hash of the content in lower case, so that a repeated fact is one row.
  digest TEXT NOT NULL,
  source TEXT NOT NULL CHECK (source IN ('agent', 'compaction', 'owner')),
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  UNIQUE (agent_id, circle, digest)
) STRICT;
CREATE INDEX memories_recent ON memories (agent_id, circle, updated_at);

-- The agent's id is a word of the index, so that a search reads the entries of one agent only.
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

-- dedupe identifies the request, so that a message that is processed again creates no second reminder.
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
