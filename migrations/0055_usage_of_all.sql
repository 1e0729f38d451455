-- The use of models of all accounts together by day: sums of `usage_days`, written once a day for the day before, so that
-- a report over a month reads some hundred rows.
CREATE TABLE usage_of_all (
  day INTEGER NOT NULL,
  provider TEXT NOT NULL,
  model TEXT NOT NULL,
  own_key INTEGER NOT NULL,
  calls INTEGER NOT NULL,
  cached INTEGER NOT NULL,
  estimated INTEGER NOT NULL,
  input_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  cost_micro_usd INTEGER NOT NULL,
  credit_micro_usd INTEGER NOT NULL,
  PRIMARY KEY (day, provider, model, own_key)
) STRICT, WITHOUT ROWID;

-- The days that are summed, also those without any use.
CREATE TABLE summed_days (
  day INTEGER PRIMARY KEY
) STRICT;
