-- The answers that a message offers, as JSON; shown as buttons where the platform has them.
ALTER TABLE outbox ADD COLUMN choices TEXT;
CREATE INDEX approvals_by_code ON approvals (agent_id, code);
