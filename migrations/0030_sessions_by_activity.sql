-- A turn moves its session in every index with the time of its last message, so each session is in only one of them.
DROP INDEX sessions_by_agent;
CREATE INDEX sessions_visited ON sessions (agent_id, last_activity_at) WHERE platform = 'public';
-- These indexes do not change with a turn; together they find sessions that are being restored or deleted.
DROP INDEX sessions_nobodys;
CREATE INDEX sessions_by_agent ON sessions (agent_id, platform);
