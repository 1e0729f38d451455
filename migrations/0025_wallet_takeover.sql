-- When the account was last taken over by the owner of its address: what was asked for before is not reserved after it.
ALTER TABLE wallet_policies ADD COLUMN reset_at INTEGER NOT NULL DEFAULT 0;
