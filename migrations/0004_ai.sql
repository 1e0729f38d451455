-- The ledger: usage and cost of every call of a model. Times are epoch milliseconds, money is in micro-USD.

-- kind: 'turn' of an agent, 'public' without a key, 'api' for an account. estimated: the provider gave no count.
CREATE TABLE usage (
  id TEXT NOT NULL,
  at INTEGER NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('turn', 'public', 'api')),
  user_id TEXT,
  agent_id TEXT,
  provider TEXT NOT NULL,
  model TEXT NOT NULL,
  input_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  cost_micro_usd INTEGER NOT NULL,
  latency_ms INTEGER NOT NULL,
  estimated INTEGER NOT NULL CHECK (estimated IN (0, 1))
) STRICT;
CREATE INDEX usage_by_agent ON usage (agent_id, at, cost_micro_usd) WHERE agent_id IS NOT NULL;
-- For totals of an account: the usage of its agents and its own.
CREATE INDEX usage_by_user ON usage (user_id, at, cost_micro_usd) WHERE kind = 'api';
CREATE INDEX usage_public ON usage (at, cost_micro_usd) WHERE kind = 'public';
