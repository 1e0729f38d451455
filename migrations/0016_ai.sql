-- Money: sums by day, use of credits, budget notices, and agents with a response cache.

-- own_key: the agent's or its owner's key was used, so that the operator paid nothing. credit_micro_usd: the part of the
-- cost that credits paid for. cached: answered from the cache; such a row costs nothing and has no tokens.
ALTER TABLE usage ADD COLUMN own_key INTEGER NOT NULL DEFAULT 0 CHECK (own_key IN (0, 1));
ALTER TABLE usage ADD COLUMN credit_micro_usd INTEGER NOT NULL DEFAULT 0;
ALTER TABLE usage ADD COLUMN cached INTEGER NOT NULL DEFAULT 0 CHECK (cached IN (0, 1));
-- A call is stored once, even if a restarted process stores it again.
CREATE UNIQUE INDEX usage_once ON usage (id);

-- The source of budgets and reports. day: days since 1970-01-01, UTC. An empty user: public use; an empty
-- agent: not an agent's turn.
CREATE TABLE usage_days (
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
  credit_micro_usd INTEGER NOT NULL,
  PRIMARY KEY (user_id, day, agent_id, provider, model, own_key)
) STRICT, WITHOUT ROWID;
CREATE INDEX usage_days_by_agent ON usage_days (agent_id, day) WHERE agent_id <> '';

INSERT INTO usage_days
SELECT coalesce(user_id, ''), at / 86400000, coalesce(agent_id, ''), provider, model, own_key, count(*), sum(cached),
  sum(estimated), sum(input_tokens), sum(output_tokens), sum(cost_micro_usd), sum(credit_micro_usd)
FROM usage GROUP BY 1, 2, 3, 4, 5, 6;

CREATE TRIGGER usage_adds_up AFTER INSERT ON usage
BEGIN
  INSERT INTO usage_days VALUES (coalesce(NEW.user_id, ''), NEW.at / 86400000, coalesce(NEW.agent_id, ''), NEW.provider,
    NEW.model, NEW.own_key, 1, NEW.cached, NEW.estimated, NEW.input_tokens, NEW.output_tokens, NEW.cost_micro_usd,
    NEW.credit_micro_usd)
  ON CONFLICT DO UPDATE SET calls = calls + 1, cached = cached + excluded.cached,
    estimated = estimated + excluded.estimated, input_tokens = input_tokens + excluded.input_tokens,
    output_tokens = output_tokens + excluded.output_tokens, cost_micro_usd = cost_micro_usd + excluded.cost_micro_usd,
    credit_micro_usd = credit_micro_usd + excluded.credit_micro_usd;
END;

-- Replaced by the sums.
DROP INDEX usage_by_agent;
DROP INDEX usage_by_user;
DROP INDEX usage_public;

-- The used part of the current credit; a whole credit (10,000 micro-USD) is taken from the account.
CREATE TABLE credit_use (
  user_id TEXT PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
  micro_usd INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TRIGGER usage_takes_credits AFTER INSERT ON usage WHEN NEW.credit_micro_usd > 0
BEGIN
  INSERT INTO credit_use (user_id, micro_usd) SELECT id, NEW.credit_micro_usd FROM users WHERE id = NEW.user_id
  ON CONFLICT (user_id) DO UPDATE SET micro_usd = micro_usd + excluded.micro_usd;
  UPDATE users SET credits = max(0, credits - (SELECT micro_usd / 10000 FROM credit_use WHERE user_id = NEW.user_id))
  WHERE id = NEW.user_id;
  UPDATE credit_use SET micro_usd = micro_usd % 10000 WHERE user_id = NEW.user_id;
END;

-- Notices of spent budgets: one for each budget and period.
CREATE TABLE budget_notices (
  whose TEXT NOT NULL,
  period TEXT NOT NULL CHECK (period IN ('day', 'month')),
  since INTEGER NOT NULL,
  PRIMARY KEY (whose, period, since)
) STRICT, WITHOUT ROWID;

-- Agents with a response cache, and how many seconds a response is reused for the same conversation.
CREATE TABLE response_caches (
  agent_id TEXT PRIMARY KEY REFERENCES agents (id) ON DELETE CASCADE,
  max_age_s INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
