-- Agents: identity, configuration, credentials and log.
CREATE TABLE agents (
  id TEXT PRIMARY KEY,
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  model TEXT NOT NULL CHECK (model IN ('model_a', 'model_b', 'custom')),
  status TEXT NOT NULL CHECK (status IN ('running', 'active', 'stopped', 'error')),
  status_reason TEXT,
  -- The state that the agent should have; it is restored after a restart.
  wanted TEXT NOT NULL CHECK (wanted IN ('up', 'down')),
  subdomain TEXT NOT NULL UNIQUE,
  -- The owner hint given at provisioning; it grants no access.
  tier TEXT,
  runtime_version TEXT NOT NULL,
  verified INTEGER NOT NULL DEFAULT 0,
  verification_type TEXT,
  attestation_uid TEXT,
  verifier_address TEXT,
  verified_at INTEGER,
  verification_metadata TEXT,
  started_at INTEGER,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX agents_by_owner ON agents (user_id, id);

-- One row per version; the newest is in force. The text is stored unchanged.
CREATE TABLE agent_configs (
  agent_id TEXT NOT NULL REFERENCES agents (id) ON DELETE CASCADE,
  version INTEGER NOT NULL,
  body TEXT NOT NULL,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (agent_id, version)
) STRICT;

-- Sealed by the vault, bound to this row. An agent's own credential takes precedence over its owner's default.
CREATE TABLE credentials (
  owner_kind TEXT NOT NULL CHECK (owner_kind IN ('agent', 'user')),
  owner_id TEXT NOT NULL,
  kind TEXT NOT NULL,
  sealed TEXT NOT NULL,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (owner_kind, owner_id, kind)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER agents_take_their_credentials AFTER DELETE ON agents
BEGIN
  DELETE FROM credentials WHERE owner_kind = 'agent' AND owner_id = OLD.id;
END;

CREATE TRIGGER users_take_their_credentials AFTER DELETE ON users
BEGIN
  DELETE FROM credentials WHERE owner_kind = 'user' AND owner_id = OLD.id;
END;

-- Ids are UUIDv7: they order the lines and contain their time.
CREATE TABLE agent_logs (
  id TEXT PRIMARY KEY,
  agent_id TEXT NOT NULL REFERENCES agents (id) ON DELETE CASCADE,
  at INTEGER NOT NULL,
  level TEXT NOT NULL,
  source TEXT NOT NULL,
  message TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX agent_logs_by_agent ON agent_logs (agent_id, id);
