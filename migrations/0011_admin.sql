-- The audit log of administrators. No foreign keys, since an entry outlives the accounts that it names.
CREATE TABLE audit_log (
  -- UUIDv7, ordered by time.
  id TEXT PRIMARY KEY,
  at INTEGER NOT NULL,
  actor_kind TEXT NOT NULL CHECK (actor_kind IN ('user', 'command')),
  -- NULL for a command.
  actor_id TEXT,
  -- The admin's email address at that time; for a command, the user of the system.
  actor_name TEXT NOT NULL,
  action TEXT NOT NULL,
  target_kind TEXT NOT NULL,
  target_id TEXT NOT NULL,
  target_name TEXT NOT NULL,
  -- JSON: old and new value of each field, without secrets.
  details TEXT NOT NULL,
  -- NULL for a command.
  address TEXT,
  request_id TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX audit_log_target ON audit_log (target_id, id);
CREATE INDEX audit_log_target_name ON audit_log (target_name, id);
CREATE INDEX audit_log_actor ON audit_log (actor_id, id);
CREATE INDEX audit_log_actor_name ON audit_log (actor_name, id);
CREATE INDEX audit_log_action ON audit_log (action, id);

-- Append-only; entries are kept for two years.
CREATE TRIGGER audit_log_unchanged BEFORE UPDATE ON audit_log
BEGIN
  SELECT RAISE(ABORT, 'the audit log is never changed');
END;
CREATE TRIGGER audit_log_kept BEFORE DELETE ON audit_log WHEN OLD.at > (unixepoch() - 730 * 86400) * 1000
BEGIN
  SELECT RAISE(ABORT, 'the audit log is kept for two years');
END;
