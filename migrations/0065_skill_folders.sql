-- Skills that accounts installed from folders with a SKILL.md. Each upload is a version; agents use the current one.
CREATE TABLE installed_skills (
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  -- The version in use.
  version INTEGER NOT NULL,
  -- When its owner removed it; it can be restored until it is deleted.
  removed_at INTEGER,
  PRIMARY KEY (user_id, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX installed_skills_removed ON installed_skills (removed_at) WHERE removed_at IS NOT NULL;

CREATE TABLE skill_versions (
  user_id TEXT NOT NULL,
  name TEXT NOT NULL,
  version INTEGER NOT NULL,
  description TEXT NOT NULL,
  -- The other fields of SKILL.md, as JSON.
  fields TEXT NOT NULL,
  -- What differs from the specification, as JSON.
  warnings TEXT NOT NULL,
  -- The address it came from; NULL for an upload.
  address TEXT,
  -- The owner has read it and answers for it: its texts count as the owner's own.
  trusted INTEGER NOT NULL DEFAULT 0 CHECK (trusted IN (0, 1)),
  digest TEXT NOT NULL,
  -- Bytes of its texts, which are kept.
  size INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  -- The instructions. Last, since reading what follows a long text is slow.
  body TEXT NOT NULL,
  PRIMARY KEY (user_id, name, version),
  FOREIGN KEY (user_id, name) REFERENCES installed_skills (user_id, name) ON DELETE CASCADE
) STRICT;

CREATE TABLE skill_files (
  user_id TEXT NOT NULL,
  name TEXT NOT NULL,
  version INTEGER NOT NULL,
  path TEXT NOT NULL,
  size INTEGER NOT NULL,
  -- NULL for a file that is no text, which is not kept.
  content TEXT,
  PRIMARY KEY (user_id, name, version, path),
  FOREIGN KEY (user_id, name, version) REFERENCES skill_versions (user_id, name, version) ON DELETE CASCADE
) STRICT;

-- Skills that a conversation has loaded: their instructions stay in its prompts.
CREATE TABLE loaded_skills (
  session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  skill_id TEXT NOT NULL,
  agent_id TEXT NOT NULL,
  loaded_at INTEGER NOT NULL,
  PRIMARY KEY (session_id, skill_id)
) STRICT, WITHOUT ROWID;
