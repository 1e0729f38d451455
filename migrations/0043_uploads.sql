-- Files that owners gave to their agents through the API. The bytes are in the data folder, in uploads/<agent>/<id>.
CREATE TABLE uploads (
  id TEXT NOT NULL,
  agent_id TEXT NOT NULL REFERENCES agents (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  -- As its sender claims; for pictures as their first bytes tell.
  type TEXT NOT NULL,
  size INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (agent_id, id)
) STRICT, WITHOUT ROWID;

-- Which messages use an upload. message_id: the inbox entry, which is the id of the user's message as well.
CREATE TABLE upload_uses (
  agent_id TEXT NOT NULL,
  message_id TEXT NOT NULL,
  upload_id TEXT NOT NULL,
  PRIMARY KEY (agent_id, message_id, upload_id),
  FOREIGN KEY (agent_id, upload_id) REFERENCES uploads (agent_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX upload_uses_by_upload ON upload_uses (agent_id, upload_id);
