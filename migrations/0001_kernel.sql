-- The kernel's tables: guards, facts about the installation, events, jobs, rate limits, stored responses (Idempotency-Key).
-- Times are epoch milliseconds.

-- Always empty: the trigger ignores the insert if the guard holds, or aborts the batch.
CREATE TABLE guard (ok INTEGER NOT NULL) STRICT;

CREATE TRIGGER guard_check BEFORE INSERT ON guard
BEGIN
  SELECT CASE WHEN NEW.ok THEN RAISE(IGNORE) ELSE RAISE(ABORT, 'guard') END;
END;

CREATE TABLE meta (
  key TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- seq always grows, even after pruning, so that readers can resume after the last one they saw.
CREATE TABLE events (
  -- Never reused, since the newest row is never pruned.
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL,
  type TEXT NOT NULL,
  user_id TEXT,
  agent_id TEXT,
  data TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX events_by_user ON events (user_id, seq) WHERE user_id IS NOT NULL;

-- state: queued, running (claimed under lease until lease_until), failed (parked).
-- rerun_at: when to run again, set if the job was enqueued while it ran.
CREATE TABLE jobs (
  id TEXT PRIMARY KEY,
  kind TEXT NOT NULL,
  unique_key TEXT,
  payload TEXT NOT NULL,
  state TEXT NOT NULL DEFAULT 'queued' CHECK (state IN ('queued', 'running', 'failed')),
  run_at INTEGER NOT NULL,
  attempt INTEGER NOT NULL DEFAULT 0,
  max_attempts INTEGER NOT NULL,
  lease TEXT,
  lease_until INTEGER,
  rerun_at INTEGER,
  last_error TEXT,
  created_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX jobs_unique ON jobs (kind, unique_key) WHERE unique_key IS NOT NULL;
CREATE INDEX jobs_due ON jobs (kind, run_at) WHERE state = 'queued';
CREATE INDEX jobs_running ON jobs (lease_until) WHERE state = 'running';

CREATE TABLE rate_limits (
  rule TEXT NOT NULL,
  key TEXT NOT NULL,
  window_start INTEGER NOT NULL,
  count INTEGER NOT NULL,
  PRIMARY KEY (rule, key, window_start)
) STRICT, WITHOUT ROWID;

CREATE TABLE idempotency_keys (
  scope TEXT NOT NULL,
  key TEXT NOT NULL,
  body_hash TEXT NOT NULL,
  status INTEGER,
  body TEXT,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (scope, key)
) STRICT;
CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at);
