-- API keys, and the second factor at sign-in. All secrets are hashed or sealed.
CREATE TABLE api_keys (
  id TEXT PRIMARY KEY,
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  key_hash TEXT NOT NULL UNIQUE,
  -- The first characters, to distinguish keys in a list.
  prefix TEXT NOT NULL,
  -- A JSON array.
  scopes TEXT NOT NULL,
  -- Whether the key was created directly on this machine; for admin rights of an unverified address, as for sessions.
  direct INTEGER NOT NULL,
  expires_at INTEGER,
  last_used_at INTEGER,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX api_keys_user ON api_keys (user_id, created_at);

CREATE TABLE two_factor (
  user_id TEXT PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
  -- Sealed, bound to this user.
  secret TEXT NOT NULL,
  -- NULL until a first code confirms the setup; before that, no code is required.
  confirmed_at INTEGER,
  -- The time step (RFC 6238, 30 seconds since 1970) of the last accepted code. Codes up to this step are refused.
  last_step INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE recovery_codes (
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  code_hash TEXT NOT NULL,
  PRIMARY KEY (user_id, code_hash)
) STRICT, WITHOUT ROWID;
