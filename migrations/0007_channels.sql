-- Channels: which agent answers as which bot on which platform, and who may talk to it there.
CREATE TABLE channel_connections (
  agent_id TEXT NOT NULL REFERENCES agents (id) ON DELETE CASCADE,
  channel TEXT NOT NULL CHECK (channel IN ('channel_a', 'channel_b', 'channel_c')),
  bot_id TEXT NOT NULL,
  bot_username TEXT NOT NULL,
  -- Says which token the bot was found by; the token itself is a credential of the agent.
  token_digest TEXT NOT NULL,
  -- The owner's id on the platform, as given when the channel was connected.
  owner_id TEXT,
  -- Where the platform posts to, in the path, and what it has to bring along, sealed.
  callback_id TEXT NOT NULL UNIQUE,
  callback_secret TEXT NOT NULL,
  -- The address, without the callback's id, that the platform was told; NULL while it was told none.
  registered_base TEXT,
  registered_at INTEGER,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (agent_id, channel),
  -- Two agents can't answer as one bot.
  UNIQUE (channel, bot_id)
) STRICT;

-- People who asked to talk to an agent, and those who may.
CREATE TABLE pairings (
  agent_id TEXT NOT NULL,
  channel TEXT NOT NULL,
  sender_id TEXT NOT NULL,
  sender_name TEXT NOT NULL,
  peer TEXT NOT NULL,
  -- NULL once it was approved.
  code TEXT,
  expires_at INTEGER,
  approved_at INTEGER,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (agent_id, channel, sender_id),
  FOREIGN KEY (agent_id, channel) REFERENCES channel_connections (agent_id, channel) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX pairings_code ON pairings (agent_id, channel, code) WHERE code IS NOT NULL;
