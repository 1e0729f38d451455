-- Indexes for rows by agent, and for expiry without reading all rows.
CREATE INDEX outbox_by_agent ON outbox (agent_id, id);

DROP INDEX sessions_agent;
CREATE INDEX sessions_by_agent ON sessions (agent_id, last_activity_at);
-- Only the sessions that the owner sees: visitors of a public page may have very many.
CREATE INDEX sessions_shown ON sessions (agent_id, last_activity_at) WHERE platform NOT IN ('', 'public');
-- Sessions that are being restored or deleted.
CREATE INDEX sessions_nobodys ON sessions (agent_id) WHERE platform = '';
-- Sessions that expire.
CREATE INDEX sessions_visitors ON sessions (last_activity_at) WHERE platform = 'public';
CREATE INDEX sessions_empty ON sessions (created_at) WHERE message_count = 0 AND platform = 'web';
