-- Indexes for the lists of admins over all agents. Turns and log lines without an error write to none of them.
CREATE INDEX agents_by_status ON agents (status, id);
CREATE INDEX agents_by_name ON agents (name COLLATE NOCASE, id);
CREATE INDEX agent_logs_errors ON agent_logs (agent_id, id) WHERE level = 'error';
CREATE INDEX jobs_failed ON jobs (id) WHERE state = 'failed';
