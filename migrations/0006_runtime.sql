-- The runtime: what was said, what waits to be answered, and what waits to be delivered.
CREATE TABLE sessions (
  id TEXT PRIMARY KEY,
  agent_id TEXT NOT NULL REFERENCES agents (id) ON DELETE CASCADE,
  platform TEXT NOT NULL,
  -- The conversation's address on its platform; NULL for sessions that are named by their id alone.
  peer TEXT,
  status TEXT NOT NULL DEFAULT 'open' CHECK (status IN ('open', 'completed')),
  message_count INTEGER NOT NULL DEFAULT 0,
  -- What was said before the recent messages, in short, and up to which message.
  summary TEXT,
  summary_upto INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  last_activity_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX sessions_peer ON sessions (agent_id, platform, peer) WHERE status = 'open' AND peer IS NOT NULL;
CREATE INDEX sessions_agent ON sessions (agent_id);

CREATE TABLE messages (
  -- The order in which things were said: a message that waited comes after the reply to the one before it.
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL,
  session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  agent_id TEXT NOT NULL,
  inbox_id TEXT NOT NULL,
  platform TEXT NOT NULL,
  role TEXT NOT NULL CHECK (role IN ('user', 'assistant')),
  content TEXT NOT NULL,
  -- What the agent did on the way to this reply: JSON, for people who look.
  steps TEXT,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX messages_session ON messages (session_id);

-- Kept by agent: what one has to do, and what it was sent, lies together.
CREATE TABLE inbox (
  id TEXT NOT NULL,
  agent_id TEXT NOT NULL REFERENCES agents (id) ON DELETE CASCADE,
  session_id TEXT NOT NULL,
  platform TEXT NOT NULL,
  -- NULL for entrances whose messages have no id of their own.
  platform_message_id TEXT,
  peer TEXT,
  sender_id TEXT NOT NULL,
  sender_name TEXT NOT NULL,
  by_owner INTEGER NOT NULL,
  is_group INTEGER NOT NULL DEFAULT 0,
  kind TEXT NOT NULL DEFAULT 'message' CHECK (kind IN ('message', 'command', 'reminder')),
  content TEXT NOT NULL,
  topic TEXT,
  status TEXT NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'done', 'failed', 'cancelled', 'parked')),
  attempts INTEGER NOT NULL DEFAULT 0,
  -- A message on the platform that shows the growing reply and will become it.
  preview_id TEXT,
  -- The message that answers this one: its seq.
  reply INTEGER,
  error TEXT,
  received_at INTEGER NOT NULL,
  settled_at INTEGER,
  PRIMARY KEY (agent_id, id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX inbox_once ON inbox (agent_id, platform, platform_message_id) WHERE platform_message_id IS NOT NULL;
CREATE INDEX inbox_pending ON inbox (agent_id, id) WHERE status = 'pending';

CREATE TABLE outbox (
  id TEXT PRIMARY KEY,
  inbox_id TEXT NOT NULL,
  agent_id TEXT NOT NULL REFERENCES agents (id) ON DELETE CASCADE,
  platform TEXT NOT NULL,
  peer TEXT NOT NULL,
  body TEXT NOT NULL,
  reply_to TEXT,
  preview_id TEXT,
  -- The platform's ids of the parts that arrived, in order: JSON.
  parts TEXT NOT NULL DEFAULT '[]',
  status TEXT NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'sent', 'failed')),
  attempts INTEGER NOT NULL DEFAULT 0,
  error TEXT,
  created_at INTEGER NOT NULL,
  sent_at INTEGER
) STRICT;
CREATE INDEX outbox_pending ON outbox (agent_id, id) WHERE status = 'pending';
