-- The runtime: conversations, the inbox of messages to answer, and the outbox of replies to deliver.
CREATE TABLE sessions (
  id TEXT PRIMARY KEY,
  agent_id TEXT NOT NULL REFERENCES agents (id) ON DELETE CASCADE,
  platform TEXT NOT NULL,
  -- The conversation's address on its platform; NULL for sessions that are identified by their id.
  peer TEXT,
  status TEXT NOT NULL DEFAULT 'open' CHECK (status IN ('open', 'completed')),
  message_count INTEGER NOT NULL DEFAULT 0,
  -- Summary of the older messages, and the last message that it covers.
  summary TEXT,
  summary_upto INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  last_activity_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX sessions_peer ON sessions (agent_id, platform, peer) WHERE status = 'open' AND peer IS NOT NULL;
CREATE INDEX sessions_agent ON sessions (agent_id);

CREATE TABLE messages (
  -- The order of the conversation: a message that waited comes after the reply to the previous one.
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL,
  session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  agent_id TEXT NOT NULL,
  inbox_id TEXT NOT NULL,
  platform TEXT NOT NULL,
  role TEXT NOT NULL CHECK (role IN ('user', 'assistant')),
  content TEXT NOT NULL,
  -- The steps of the agent before this reply, as JSON, for display.
  steps TEXT,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX messages_session ON messages (session_id);

-- Clustered by agent, so that its messages are stored together.
CREATE TABLE inbox (
  id TEXT NOT NULL,
  agent_id TEXT NOT NULL REFERENCES agents (id) ON DELETE CASCADE,
  session_id TEXT NOT NULL,
  platform TEXT NOT NULL,
  -- The platform's message id; NULL for entrances without message ids.
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
  -- The platform's message that shows the reply as it grows, and becomes the reply.
  preview_id TEXT,
  -- The seq of the message that answers this one.
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
  -- The platform's ids of the delivered parts, in order, as JSON.
  parts TEXT NOT NULL DEFAULT '[]',
  status TEXT NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'sent', 'failed')),
  attempts INTEGER NOT NULL DEFAULT 0,
  error TEXT,
  created_at INTEGER NOT NULL,
  sent_at INTEGER
) STRICT;
CREATE INDEX outbox_pending ON outbox (agent_id, id) WHERE status = 'pending';
