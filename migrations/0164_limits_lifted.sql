-- Whether an admin has lifted the limits of new accounts (NEW_ACCOUNT_DAYS) for this one.
ALTER TABLE users ADD COLUMN limits_lifted INTEGER NOT NULL DEFAULT 0;
