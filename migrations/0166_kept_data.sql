-- What is deleted because its time is over, and whom the service was asked to forget.

-- Conversations whose messages were all deleted; few at any time, so that a turn never writes to it.
CREATE INDEX sessions_emptied ON sessions (last_activity_at) WHERE status = 'completed' AND message_count = 0;

-- The jobs that did it before, one for each plugin.
DELETE FROM jobs WHERE kind IN ('events.prune', 'webhooks.prune', 'ai.prune-ledger', 'runtime.prune-journal', 'runtime.expire-sessions',
  'agents.expire-logs', 'approvals.delete-old', 'openai-api.prune-responses', 'uploads.sweep', 'admin.prune-audit');

-- Whom the service was asked to forget, and how far it is. A row names nobody once it has ended.
CREATE TABLE erasures (
  -- UUIDv7.
  id TEXT PRIMARY KEY,
  -- HMAC of whom, under a key that is sealed beside the database.
  person TEXT NOT NULL,
  -- Sealed: kind and id of whom, and whose agents. NULL once it has ended.
  subject TEXT,
  -- JSON: who asked for it.
  actor TEXT NOT NULL,
  -- JSON: how many of each kind were deleted so far.
  counts TEXT NOT NULL DEFAULT '{}',
  started_at INTEGER NOT NULL,
  ended_at INTEGER,
  -- JSON, signed.
  receipt TEXT
) STRICT;
