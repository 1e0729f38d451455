-- Money in: each change of an account's credits with its cause, and the payments that bought some, so that `berth ledger check`
-- can prove that payments, credits and usage agree.

-- What people have paid. id: the source and its own id, such as `stripe:pi_1` or `chain:84532:0x12…`, so that a payment counts
-- once. amount: in the smallest unit of the currency; negative for a refund. Kept when an account is deleted.
CREATE TABLE payments (
  id TEXT PRIMARY KEY,
  user_id TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('credits', 'plan', 'refund')),
  amount INTEGER NOT NULL,
  currency TEXT NOT NULL,
  credits INTEGER NOT NULL,
  at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX payments_of_account ON payments (user_id, at);

-- balance: the credits after the change. kind: 'opening' what an account began with, 'granted' by an admin or a referral,
-- 'payment' (reference: the payment), 'usage', and 'unpaid': use for which no credits were left, which changes no balance.
CREATE TABLE credit_entries (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  kind TEXT NOT NULL CHECK (kind IN ('opening', 'granted', 'payment', 'usage', 'unpaid')),
  credits INTEGER NOT NULL,
  balance INTEGER NOT NULL,
  reference TEXT
) STRICT;
CREATE INDEX credit_entries_of_account ON credit_entries (user_id, id);
CREATE UNIQUE INDEX credit_entries_of_payment ON credit_entries (reference) WHERE kind = 'payment';

-- The cause of the next change of credits within a write; empty outside of one.
CREATE TABLE credit_cause (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  kind TEXT NOT NULL,
  reference TEXT
) STRICT;

INSERT INTO credit_entries (user_id, kind, credits, balance) SELECT id, 'opening', credits, credits FROM users WHERE credits <> 0;

-- carried_micro_usd: with the credit parts of the account's rows in `usage`, it is what the credits have paid since this
-- migration. It takes over the part of each row that is deleted.
ALTER TABLE credit_use ADD COLUMN carried_micro_usd INTEGER NOT NULL DEFAULT 0;
INSERT INTO credit_use (user_id, micro_usd) SELECT DISTINCT user_id, 0 FROM usage
WHERE credit_micro_usd > 0 AND user_id IN (SELECT id FROM users) ON CONFLICT DO NOTHING;
UPDATE credit_use SET carried_micro_usd = micro_usd
  - coalesce((SELECT sum(credit_micro_usd) FROM usage WHERE usage.user_id = credit_use.user_id AND credit_micro_usd > 0), 0);

CREATE TRIGGER users_begin_with_credits AFTER INSERT ON users WHEN NEW.credits <> 0
BEGIN
  INSERT INTO credit_entries (user_id, kind, credits, balance) VALUES (NEW.id, 'opening', NEW.credits, NEW.credits);
END;

CREATE TRIGGER users_change_credits AFTER UPDATE OF credits ON users WHEN NEW.credits <> OLD.credits
BEGIN
  INSERT INTO credit_entries (user_id, kind, credits, balance, reference) VALUES (NEW.id,
    coalesce((SELECT kind FROM credit_cause), 'granted'), NEW.credits - OLD.credits, NEW.credits,
    (SELECT reference FROM credit_cause));
END;

DROP TRIGGER usage_takes_credits;
CREATE TRIGGER usage_takes_credits AFTER INSERT ON usage WHEN NEW.credit_micro_usd > 0
BEGIN
  INSERT INTO credit_use (user_id, micro_usd) SELECT id, NEW.credit_micro_usd FROM users WHERE id = NEW.user_id
  ON CONFLICT (user_id) DO UPDATE SET micro_usd = micro_usd + excluded.micro_usd;
  INSERT INTO credit_cause SELECT 1, 'usage', NEW.id FROM credit_use WHERE user_id = NEW.user_id AND micro_usd >= 10000;
  INSERT INTO credit_entries (user_id, kind, credits, balance, reference)
    SELECT u.id, 'unpaid', u.credits - c.micro_usd / 10000, 0, NEW.id FROM users u JOIN credit_use c ON c.user_id = u.id
    WHERE u.id = NEW.user_id AND c.micro_usd / 10000 > u.credits;
  UPDATE users SET credits = max(0, credits - (SELECT micro_usd / 10000 FROM credit_use WHERE user_id = NEW.user_id))
  WHERE id = NEW.user_id AND EXISTS (SELECT 1 FROM credit_cause);
  DELETE FROM credit_cause;
  UPDATE credit_use SET micro_usd = micro_usd % 10000 WHERE user_id = NEW.user_id AND micro_usd >= 10000;
END;

CREATE TRIGGER usage_rows_go AFTER DELETE ON usage WHEN OLD.credit_micro_usd > 0
BEGIN
  UPDATE credit_use SET carried_micro_usd = carried_micro_usd + OLD.credit_micro_usd WHERE user_id = OLD.user_id;
END;
