-- What accounts have beside a password: other ways to sign in, a language, a block, and where each session is.
ALTER TABLE users ADD COLUMN locale TEXT NOT NULL DEFAULT 'en';
-- Blocked by an admin since then.
ALTER TABLE users ADD COLUMN disabled_at INTEGER;
-- Whose referral code it signed up with.
ALTER TABLE users ADD COLUMN referred_by TEXT;

-- Shown in the list of sessions, so that a stranger's stands out.
ALTER TABLE auth_sessions ADD COLUMN address TEXT NOT NULL DEFAULT '';
ALTER TABLE auth_sessions ADD COLUMN user_agent TEXT NOT NULL DEFAULT '';

-- The address that a link to verify one was sent to.
ALTER TABLE auth_links ADD COLUMN email TEXT;
CREATE INDEX auth_links_user ON auth_links (user_id, kind) WHERE user_id IS NOT NULL;
CREATE INDEX auth_links_expiry ON auth_links (expires_at);

-- Google's and GitHub's id of a user, or the lower-case address of a wallet.
CREATE TABLE linked_accounts (
  provider TEXT NOT NULL CHECK (provider IN ('google', 'github', 'wallet')),
  subject TEXT NOT NULL,
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (provider, subject)
) STRICT, WITHOUT ROWID;
CREATE INDEX linked_accounts_user ON linked_accounts (user_id);

-- Nonces and states that must not be taken twice; kept until nobody could still bring them.
CREATE TABLE auth_used_once (
  purpose TEXT NOT NULL,
  value TEXT NOT NULL,
  expires_at INTEGER NOT NULL,
  PRIMARY KEY (purpose, value)
) STRICT, WITHOUT ROWID;
CREATE INDEX auth_used_once_expiry ON auth_used_once (expires_at);
