-- Linked sign-ins of any provider, each with a text by which its owner recognises it. SQLite can't drop a CHECK: the
-- table is copied.
CREATE TABLE linked_accounts_new (
  provider TEXT NOT NULL,
  subject TEXT NOT NULL,
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  created_at INTEGER NOT NULL,
  -- The address or name of the account at the provider; NULL if it is not known.
  label TEXT,
  PRIMARY KEY (provider, subject)
) STRICT, WITHOUT ROWID;
INSERT INTO linked_accounts_new (provider, subject, user_id, created_at)
  SELECT provider, subject, user_id, created_at FROM linked_accounts;
DROP TABLE linked_accounts;
ALTER TABLE linked_accounts_new RENAME TO linked_accounts;
CREATE INDEX linked_accounts_user ON linked_accounts (user_id);

-- Counts the people who came with a referral code.
CREATE INDEX users_referred_by ON users (referred_by) WHERE referred_by IS NOT NULL;
