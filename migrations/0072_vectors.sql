-- Vectors of passages and facts, by which texts are found that mean the same in other words. One byte a dimension, without an index: the
-- rows of one agent are compared within milliseconds, and an index would take many times the space.
CREATE TABLE knowledge_vectors (
  seq INTEGER PRIMARY KEY REFERENCES knowledge_chunks (seq) ON DELETE CASCADE,
  agent_id TEXT NOT NULL,
  model TEXT NOT NULL,
  dimensions INTEGER NOT NULL,
  embedding BLOB NOT NULL
) STRICT;
CREATE INDEX knowledge_vectors_by_agent ON knowledge_vectors (agent_id, model, dimensions);

CREATE TABLE memory_vectors (
  seq INTEGER PRIMARY KEY REFERENCES memories (seq) ON DELETE CASCADE,
  agent_id TEXT NOT NULL,
  model TEXT NOT NULL,
  dimensions INTEGER NOT NULL,
  embedding BLOB NOT NULL
) STRICT;
CREATE INDEX memory_vectors_by_agent ON memory_vectors (agent_id, model, dimensions);

CREATE TRIGGER memory_vectors_update AFTER UPDATE OF content ON memories WHEN OLD.content <> NEW.content
BEGIN
  DELETE FROM memory_vectors WHERE seq = OLD.seq;
END;
