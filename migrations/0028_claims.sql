-- Agents that were made without an account, each held by one of its own until somebody claims it.
CREATE TABLE claims (
  -- Only this account is named with a reference: the row goes when nothing is left to be cleared away.
  holder_id TEXT PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
  agent_id TEXT NOT NULL UNIQUE,
  -- Of what the claim's link holds.
  token_hash TEXT NOT NULL UNIQUE,
  -- Then the agent is removed.
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX claims_by_expiry ON claims (expires_at);

-- Whoever was let in by an agent's former owner is let in no more, whichever way the agent came to the new one.
CREATE TRIGGER agents_leave_gateway_token_with_owner AFTER UPDATE OF user_id ON agents WHEN NEW.user_id <> OLD.user_id
BEGIN
  DELETE FROM gateway_tokens WHERE agent_id = NEW.id;
END;
