-- Accounts: linked identities, language, block, referral, and the client of each session.
ALTER TABLE users ADD COLUMN locale TEXT NOT NULL DEFAULT 'en';
-- Time since which the account is disabled by an admin.
ALTER TABLE users ADD COLUMN disabled_at INTEGER;
-- The user whose referral code was used at the sign-up.
ALTER TABLE users ADD COLUMN referred_by TEXT;

-- Shown in the list of sessions, so that users can recognise foreign ones.
ALTER TABLE auth_sessions ADD COLUMN address TEXT NOT NULL DEFAULT '';
ALTER TABLE auth_sessions ADD COLUMN user_agent TEXT NOT NULL DEFAULT '';

-- The address that a verification link was sent to.
ALTER TABLE auth_links ADD COLUMN email TEXT;
CREATE INDEX auth_links_user ON auth_links (user_id, kind) WHERE user_id IS NOT NULL;
CREATE INDEX auth_links_expiry ON auth_links (expires_at);

-- The user's id at Google or GitHub, or the address of a wallet in lower case.
CREATE TABLE linked_accounts (
  provider TEXT NOT NULL CHECK (provider IN ('google', 'github', 'wallet')),
  subject TEXT NOT NULL,
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (provider, subject)
) STRICT, WITHOUT ROWID;
CREATE INDEX linked_accounts_user ON linked_accounts (user_id);

-- Nonces and states that can be used once; kept until they expire.
CREATE TABLE auth_used_once (
  purpose TEXT NOT NULL,
  value TEXT NOT NULL,
  expires_at INTEGER NOT NULL,
  PRIMARY KEY (purpose, value)
) STRICT, WITHOUT ROWID;
CREATE INDEX auth_used_once_expiry ON auth_used_once (expires_at);
