-- Schedules: prompts that an agent gets at set times, and each of their runs.
CREATE TABLE schedules (
  id TEXT PRIMARY KEY,
  agent_id TEXT NOT NULL REFERENCES agents (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  prompt TEXT NOT NULL,
  -- Either a cron expression or one time, in epoch ms.
  cron TEXT,
  at INTEGER,
  timezone TEXT NOT NULL,
  -- Where the reply goes, as JSON: a conversation of a channel, or webhooks; NULL: it is only stored.
  deliver TEXT,
  missed TEXT NOT NULL CHECK (missed IN ('skip', 'once', 'all')),
  enabled INTEGER NOT NULL CHECK (enabled IN (0, 1)),
  -- Why it was switched off, for the owner.
  status_reason TEXT,
  -- Of the context in which the prompt was written.
  taint INTEGER NOT NULL DEFAULT 0,
  origin TEXT NOT NULL CHECK (origin IN ('owner', 'agent', 'config')),
  -- Hash of the part of the configuration that it was made from.
  digest TEXT,
  -- The session of runs whose reply goes to no channel.
  session_id TEXT,
  -- NULL when no run is to come.
  next_run_at INTEGER,
  last_run_at INTEGER,
  last_status TEXT,
  -- Failed runs in a row.
  failures INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  CHECK ((cron IS NULL) <> (at IS NULL))
) STRICT;
CREATE INDEX schedules_by_agent ON schedules (agent_id, id);

-- A run is inserted in the batch that advances next_run_at and stores its inbox entry, so that it can't happen twice.
CREATE TABLE schedule_runs (
  id TEXT PRIMARY KEY,
  agent_id TEXT NOT NULL,
  schedule_id TEXT NOT NULL REFERENCES schedules (id) ON DELETE CASCADE,
  cause TEXT NOT NULL CHECK (cause IN ('time', 'missed', 'manual')),
  due_at INTEGER NOT NULL,
  -- Further times that were missed and have no run of their own.
  missed INTEGER NOT NULL DEFAULT 0,
  status TEXT NOT NULL CHECK (status IN ('running', 'done', 'failed', 'cancelled', 'skipped')),
  -- The inbox entry whose turn this is, which is the id of the turn.
  inbox_id TEXT,
  session_id TEXT,
  error TEXT,
  started_at INTEGER NOT NULL,
  ended_at INTEGER
) STRICT;
CREATE INDEX schedule_runs_by_schedule ON schedule_runs (schedule_id, id);
CREATE UNIQUE INDEX schedule_runs_once ON schedule_runs (schedule_id, due_at) WHERE cause <> 'manual';
