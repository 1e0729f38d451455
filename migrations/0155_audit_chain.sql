-- The audit log of everybody's changes, not of admins' alone, chained by hash. The table is made anew for the kinds of actors.
CREATE TABLE audit_log_all (
  -- UUIDv7, ordered by time.
  id TEXT PRIMARY KEY,
  at INTEGER NOT NULL,
  actor_kind TEXT NOT NULL CHECK (actor_kind IN ('user', 'key', 'agent', 'visitor', 'command', 'service')),
  -- Of the account, the API key or the agent; NULL for the others.
  actor_id TEXT,
  -- The email address at that time, also of a key's owner; the name of an agent; for a command, the user of the system.
  actor_name TEXT NOT NULL,
  action TEXT NOT NULL,
  target_kind TEXT NOT NULL,
  target_id TEXT NOT NULL,
  target_name TEXT NOT NULL,
  -- JSON: old and new value of each field, without secrets.
  details TEXT NOT NULL,
  -- NULL where no request made the change.
  address TEXT,
  request_id TEXT
) STRICT, WITHOUT ROWID;
INSERT INTO audit_log_all SELECT * FROM audit_log;
-- Dropping a table deletes its rows, which the trigger refuses.
DROP TRIGGER audit_log_kept;
DROP TABLE audit_log;
ALTER TABLE audit_log_all RENAME TO audit_log;
CREATE INDEX audit_log_target ON audit_log (target_id, id);
CREATE INDEX audit_log_target_name ON audit_log (target_name, id);
CREATE INDEX audit_log_actor ON audit_log (actor_id, id);
CREATE INDEX audit_log_actor_name ON audit_log (actor_name, id);
CREATE INDEX audit_log_action ON audit_log (action, id);
CREATE TRIGGER audit_log_unchanged BEFORE UPDATE ON audit_log
BEGIN
  SELECT RAISE(ABORT, 'the audit log is never changed');
END;
CREATE TRIGGER audit_log_kept BEFORE DELETE ON audit_log
WHEN OLD.at > (SELECT at FROM audit_log ORDER BY id DESC LIMIT 1) - 730 * 86400000
BEGIN
  SELECT RAISE(ABORT, 'the audit log is kept for two years');
END;

-- The number of each entry, in the order of the commits, and its hash. Numbers have no gaps: a batch that fails takes none.
CREATE TABLE audit_seals (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  entry_id TEXT NOT NULL UNIQUE,
  -- HMAC of the hash before it, the number and the entry; NULL until the service has sealed it, right after the commit.
  mac TEXT
) STRICT;
CREATE INDEX audit_seals_open ON audit_seals (seq) WHERE mac IS NULL;
INSERT INTO audit_seals (entry_id) SELECT id FROM audit_log ORDER BY id;
CREATE TRIGGER audit_log_numbered AFTER INSERT ON audit_log
BEGIN
  INSERT INTO audit_seals (entry_id) VALUES (NEW.id);
END;

-- One row: the key of the chain, where it begins (after what was pruned) and ends, and a signature of these.
CREATE TABLE audit_chain (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  -- Sealed under the root key.
  chain_key TEXT NOT NULL,
  begun_at INTEGER NOT NULL,
  anchor_seq INTEGER NOT NULL,
  anchor_mac TEXT NOT NULL,
  head_seq INTEGER NOT NULL,
  head_mac TEXT NOT NULL,
  signature TEXT NOT NULL
) STRICT;

-- How far each target of AUDIT_TO has received the log.
CREATE TABLE audit_exports (
  target TEXT PRIMARY KEY,
  seq INTEGER NOT NULL
) STRICT;
