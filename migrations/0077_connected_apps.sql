-- Programs that registered themselves as OAuth clients (RFC 7591). Those with a metadata document of their own have no row.
CREATE TABLE oauth_clients (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  -- JSON: the addresses to which a browser may be sent back.
  redirect_uris TEXT NOT NULL,
  -- The last time somebody allowed it, or when it was registered.
  used_at INTEGER NOT NULL
) STRICT;
CREATE INDEX oauth_clients_used ON oauth_clients (used_at);

-- What an account has allowed such a program.
CREATE TABLE connected_apps (
  id TEXT PRIMARY KEY,
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  client_id TEXT NOT NULL,
  name TEXT NOT NULL,
  -- Where it lives, as its owner was shown it.
  host TEXT NOT NULL,
  -- JSON.
  scopes TEXT NOT NULL,
  -- What it writes counts as the account holder's own words.
  trusted INTEGER NOT NULL CHECK (trusted IN (0, 1)),
  created_at INTEGER NOT NULL,
  last_used_at INTEGER,
  -- Moved on by each refresh.
  expires_at INTEGER NOT NULL
) STRICT;
CREATE INDEX connected_apps_by_user ON connected_apps (user_id, created_at);
CREATE INDEX connected_apps_expiry ON connected_apps (expires_at);

-- Codes and tokens by their SHA-256. A code or a refresh token that was used stays until it expires, so that its second use
-- is noticed.
CREATE TABLE oauth_secrets (
  hash TEXT PRIMARY KEY,
  app_id TEXT NOT NULL REFERENCES connected_apps (id) ON DELETE CASCADE,
  kind TEXT NOT NULL CHECK (kind IN ('code', 'access', 'refresh')),
  -- Of a code: the challenge (RFC 7636), and the address to which it was sent.
  challenge TEXT,
  redirect_uri TEXT,
  expires_at INTEGER NOT NULL,
  used_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX oauth_secrets_of_app ON oauth_secrets (app_id);
CREATE INDEX oauth_secrets_expiry ON oauth_secrets (expires_at);
