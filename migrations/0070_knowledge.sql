-- Files that agents know: sent by their owners, or read from an address; and the passages by which they are searched.
CREATE TABLE knowledge_files (
  id TEXT PRIMARY KEY,
  agent_id TEXT NOT NULL REFERENCES agents (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  type TEXT NOT NULL,
  -- Bytes of the file as it came.
  size INTEGER NOT NULL,
  -- NULL for a file that was sent.
  url TEXT,
  -- How often the address is read again.
  refresh TEXT CHECK (refresh IN ('hour', 'day', 'week')),
  etag TEXT,
  -- Hash of the bytes that the passages are from.
  digest TEXT,
  status TEXT NOT NULL CHECK (status IN ('queued', 'indexing', 'ready', 'failed')),
  -- Passages of the generation in use.
  chunks INTEGER NOT NULL DEFAULT 0,
  -- Passages of the next generation that are written so far, and all of them.
  written INTEGER NOT NULL DEFAULT 0,
  expected INTEGER NOT NULL DEFAULT 0,
  -- The passages of this number are in use.
  generation INTEGER NOT NULL DEFAULT 0,
  title TEXT NOT NULL DEFAULT '',
  published TEXT,
  -- Whether the document is longer than what was read of it.
  is_cut INTEGER NOT NULL DEFAULT 0 CHECK (is_cut IN (0, 1)),
  error_code TEXT,
  error TEXT,
  origin TEXT NOT NULL CHECK (origin IN ('owner', 'agent')),
  created_at INTEGER NOT NULL,
  -- When it was read last.
  read_at INTEGER
) STRICT;
CREATE INDEX knowledge_files_by_agent ON knowledge_files (agent_id, id);

-- No reference to the file: a file's row is deleted at once, its passages in steps afterwards.
CREATE TABLE knowledge_chunks (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  agent_id TEXT NOT NULL REFERENCES agents (id) ON DELETE CASCADE,
  file_id TEXT NOT NULL,
  generation INTEGER NOT NULL,
  position INTEGER NOT NULL,
  page INTEGER,
  heading TEXT NOT NULL,
  text TEXT NOT NULL,
  UNIQUE (agent_id, file_id, generation, position)
) STRICT;

-- The agent's id is a word of the index, so that a search reads the entries of one agent only.
CREATE VIRTUAL TABLE knowledge_search USING fts5 (
  owner,
  heading,
  text,
  content = '',
  contentless_delete = 1,
  tokenize = "unicode61 remove_diacritics 2"
);

CREATE TRIGGER knowledge_search_insert AFTER INSERT ON knowledge_chunks
BEGIN
  INSERT INTO knowledge_search (rowid, owner, heading, text)
  VALUES (NEW.seq, replace(NEW.agent_id, '-', ''), NEW.heading, NEW.text);
END;

CREATE TRIGGER knowledge_search_delete AFTER DELETE ON knowledge_chunks
BEGIN
  DELETE FROM knowledge_search WHERE rowid = OLD.seq;
END;
