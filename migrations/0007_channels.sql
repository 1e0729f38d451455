-- Channels: the bot of each agent on each platform, and the people who may talk to it.
CREATE TABLE channel_connections (
  agent_id TEXT NOT NULL REFERENCES agents (id) ON DELETE CASCADE,
  channel TEXT NOT NULL CHECK (channel IN ('channel_a', 'channel_b', 'channel_c')),
  bot_id TEXT NOT NULL,
  bot_username TEXT NOT NULL,
  -- Fingerprint of the token that identified the bot; the token itself is a credential of the agent.
  token_digest TEXT NOT NULL,
  -- The owner's id on the platform, as given when the channel was connected.
  owner_id TEXT,
  -- The id in the webhook's path, and the sealed secret that its requests must carry.
  callback_id TEXT NOT NULL UNIQUE,
  callback_secret TEXT NOT NULL,
  -- The registered webhook URL without the callback's id; NULL while none is registered.
  registered_base TEXT,
  registered_at INTEGER,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (agent_id, channel),
  -- One bot belongs to one agent.
  UNIQUE (channel, bot_id)
) STRICT;

-- People who have requested to talk to an agent, and people who may.
CREATE TABLE pairings (
  agent_id TEXT NOT NULL,
  channel TEXT NOT NULL,
  sender_id TEXT NOT NULL,
  sender_name TEXT NOT NULL,
  peer TEXT NOT NULL,
  -- NULL once the person is approved.
  code TEXT,
  expires_at INTEGER,
  approved_at INTEGER,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (agent_id, channel, sender_id),
  FOREIGN KEY (agent_id, channel) REFERENCES channel_connections (agent_id, channel) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX pairings_code ON pairings (agent_id, channel, code) WHERE code IS NOT NULL;
