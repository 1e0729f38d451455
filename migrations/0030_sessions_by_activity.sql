-- A turn moves its session within every index that holds when something was last said: one is enough for each session.
DROP INDEX sessions_by_agent;
CREATE INDEX sessions_visited ON sessions (agent_id, last_activity_at) WHERE platform = 'public';
-- Neither of these changes; those that are being brought back or cleared away are found by both.
DROP INDEX sessions_nobodys;
CREATE INDEX sessions_by_agent ON sessions (agent_id, platform);
