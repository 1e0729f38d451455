-- Social identities: the account of each fid, and sessions of fids.
CREATE TABLE social_accounts (
  -- The identity's number (fid) in decimal.
  fid TEXT PRIMARY KEY,
  user_id TEXT NOT NULL UNIQUE REFERENCES users (id) ON DELETE CASCADE,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- A session is a family of tokens, valid while its row exists.
CREATE TABLE social_sessions (
  id TEXT PRIMARY KEY,
  fid TEXT NOT NULL,
  -- The address given at the verification, in lower case; empty: none.
  address TEXT NOT NULL,
  -- Grows with each refresh: a refresh token with another number was already used.
  generation INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX social_sessions_by_fid ON social_sessions (fid, id);
CREATE INDEX social_sessions_expiry ON social_sessions (expires_at);
