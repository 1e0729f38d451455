-- Agents that were created without an account. A placeholder account holds each of them until it is claimed.
CREATE TABLE claims (
  -- The only foreign key: the row is deleted with the placeholder account, after the agent is removed.
  holder_id TEXT PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
  agent_id TEXT NOT NULL UNIQUE,
  -- Hash of the token in the claim link.
  token_hash TEXT NOT NULL UNIQUE,
  -- When the unclaimed agent is removed.
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX claims_by_expiry ON claims (expires_at);

-- Deletes the gateway token when an agent changes its owner, so that holders of the old token lose access.
CREATE TRIGGER agents_leave_gateway_token_with_owner AFTER UPDATE OF user_id ON agents WHEN NEW.user_id <> OLD.user_id
BEGIN
  DELETE FROM gateway_tokens WHERE agent_id = NEW.id;
END;
