-- The rows of the ledger that one write adds to the sums, grouped once for all of them: sorting the rows for each sum took most
-- of the time. The same write fills and empties it.

CREATE TABLE usage_step (
  user_id TEXT NOT NULL,
  day INTEGER NOT NULL,
  agent_id TEXT NOT NULL,
  provider TEXT NOT NULL,
  model TEXT NOT NULL,
  own_key INTEGER NOT NULL,
  calls INTEGER NOT NULL,
  cached INTEGER NOT NULL,
  estimated INTEGER NOT NULL,
  input_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  cost_micro_usd INTEGER NOT NULL,
  credit_micro_usd INTEGER NOT NULL
) STRICT;
