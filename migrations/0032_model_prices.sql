-- The providers' lists of models with prices and context windows, so that a restart knows them before they are read again.
CREATE TABLE model_lists (
  provider TEXT PRIMARY KEY,
  -- Digest of the address that the list was read from: another address may have other prices.
  source TEXT NOT NULL,
  fetched_at INTEGER NOT NULL,
  -- JSON
  models TEXT NOT NULL
) STRICT;

-- For the sum over all accounts without a subscription on one day.
CREATE INDEX usage_days_by_day ON usage_days (day);
