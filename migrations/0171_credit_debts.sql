-- Credits that an account owes: of a refund or a dispute, those that were used already.

-- reference: the payment that made the debt (a refund; credits above 0), or that paid some of it off (credits below 0).
CREATE TABLE credit_debts (
  reference TEXT PRIMARY KEY,
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  credits INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX credit_debts_of_account ON credit_debts (user_id);
