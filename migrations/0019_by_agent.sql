-- What belongs to one agent is found by it, and what ends is found without looking through everybody's.
CREATE INDEX outbox_by_agent ON outbox (agent_id, id);

DROP INDEX sessions_agent;
CREATE INDEX sessions_by_agent ON sessions (agent_id, last_activity_at);
-- Those that its owner sees: visitors of a public page have as many as they like.
CREATE INDEX sessions_shown ON sessions (agent_id, last_activity_at) WHERE platform NOT IN ('', 'public');
-- Those that are being brought back or cleared away.
CREATE INDEX sessions_nobodys ON sessions (agent_id) WHERE platform = '';
-- Those that expire.
CREATE INDEX sessions_visitors ON sessions (last_activity_at) WHERE platform = 'public';
CREATE INDEX sessions_empty ON sessions (created_at) WHERE message_count = 0 AND platform = 'web';
