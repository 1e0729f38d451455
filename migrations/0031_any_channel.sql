-- The channels are rows of a registry in the code, so the table no longer lists them. SQLite can't drop a CHECK: both
-- tables are copied. The child is copied and dropped first, because dropping its parent would delete the child's rows.
CREATE TABLE channel_connections_new (
  agent_id TEXT NOT NULL REFERENCES agents (id) ON DELETE CASCADE,
  channel TEXT NOT NULL,
  bot_id TEXT NOT NULL,
  bot_username TEXT NOT NULL,
  -- Digest of the token that the bot was identified by; the token itself is a credential of the agent.
  token_digest TEXT NOT NULL,
  -- The owner's id on the platform, as given when the channel was connected.
  owner_id TEXT,
  -- The path that the platform posts to, and the secret that it sends along, sealed.
  callback_id TEXT NOT NULL UNIQUE,
  callback_secret TEXT NOT NULL,
  -- The address, without the callback's id, that is registered with the platform; NULL while none is.
  registered_base TEXT,
  registered_at INTEGER,
  created_at INTEGER NOT NULL,
  -- Where the adapter resumes receiving, in its own form.
  resume TEXT,
  -- What the platform tells of the bot beside id and name, in the adapter's own form, without the token.
  detail TEXT,
  PRIMARY KEY (agent_id, channel),
  -- Two agents can't answer as one bot.
  UNIQUE (channel, bot_id)
) STRICT;
INSERT INTO channel_connections_new
  (agent_id, channel, bot_id, bot_username, token_digest, owner_id, callback_id, callback_secret, registered_base,
    registered_at, created_at, resume, detail)
  SELECT agent_id, channel, bot_id, bot_username, token_digest, owner_id, callback_id, callback_secret, registered_base,
    registered_at, created_at, resume, detail FROM channel_connections;

CREATE TABLE pairings_new (
  agent_id TEXT NOT NULL,
  channel TEXT NOT NULL,
  sender_id TEXT NOT NULL,
  sender_name TEXT NOT NULL,
  peer TEXT NOT NULL,
  -- NULL once it was approved or denied.
  code TEXT,
  expires_at INTEGER,
  approved_at INTEGER,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (agent_id, channel, sender_id),
  FOREIGN KEY (agent_id, channel) REFERENCES channel_connections_new (agent_id, channel) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
INSERT INTO pairings_new (agent_id, channel, sender_id, sender_name, peer, code, expires_at, approved_at, created_at)
  SELECT agent_id, channel, sender_id, sender_name, peer, code, expires_at, approved_at, created_at FROM pairings;

DROP TABLE pairings;
DROP TABLE channel_connections;
-- SQLite also renames the parent in the child's foreign key.
ALTER TABLE channel_connections_new RENAME TO channel_connections;
ALTER TABLE pairings_new RENAME TO pairings;
CREATE UNIQUE INDEX pairings_code ON pairings (agent_id, channel, code) WHERE code IS NOT NULL;
