-- API keys, and the second factor at sign-in. What lets somebody in is hashed or sealed; none of it is here in clear.
CREATE TABLE api_keys (
  id TEXT PRIMARY KEY,
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  key_hash TEXT NOT NULL UNIQUE,
  -- The first characters, to tell one from another in a list.
  prefix TEXT NOT NULL,
  -- A JSON array.
  scopes TEXT NOT NULL,
  -- Made straight on this machine: counts for admin rights of an unverified address, like a session's.
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
  -- Null until the first code shows that the app has the secret: nothing is asked for before.
  confirmed_at INTEGER,
  -- The 30 seconds (counted since 1970) of the last code that was taken: neither it nor an older one is taken again.
  last_step INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE recovery_codes (
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  code_hash TEXT NOT NULL,
  PRIMARY KEY (user_id, code_hash)
) STRICT, WITHOUT ROWID;
