-- What is deleted because its time is over, and whom the service was asked to forget.

-- Conversations whose messages were all deleted; few at any time, so that a turn never writes to it.
CREATE INDEX sessions_emptied ON sessions (last_activity_at) WHERE status = 'completed' AND message_count = 0;

-- The jobs that did it before, one for each plugin.
DELETE FROM jobs WHERE kind IN ('events.prune', 'webhooks.prune', 'ai.prune-ledger', 'runtime.prune-journal', 'runtime.expire-sessions',
  'agents.expire-logs', 'approvals.delete-old', 'openai-api.prune-responses', 'uploads.sweep', 'admin.prune-audit');
