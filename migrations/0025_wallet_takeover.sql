-- When the owner of the address last reclaimed the account. Spends requested before that are not reserved any more.
ALTER TABLE wallet_policies ADD COLUMN reset_at INTEGER NOT NULL DEFAULT 0;
