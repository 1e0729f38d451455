-- Sums of an account by day and by month, so that a report of a year reads some hundred rows, not those of each agent.

CREATE TABLE usage_account_days (
  user_id TEXT NOT NULL,
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
  PRIMARY KEY (user_id, day, provider, model, own_key)
) STRICT, WITHOUT ROWID;

INSERT INTO usage_account_days
SELECT user_id, day, provider, model, own_key, sum(calls), sum(cached), sum(estimated), sum(input_tokens),
  sum(output_tokens), sum(cost_micro_usd), sum(credit_micro_usd)
FROM usage_days GROUP BY 1, 2, 3, 4, 5;

CREATE TRIGGER usage_adds_up_by_account AFTER INSERT ON usage
BEGIN
  INSERT INTO usage_account_days VALUES (coalesce(NEW.user_id, ''), NEW.at / 86400000, NEW.provider, NEW.model,
    NEW.own_key, 1, NEW.cached, NEW.estimated, NEW.input_tokens, NEW.output_tokens, NEW.cost_micro_usd,
    NEW.credit_micro_usd)
  ON CONFLICT DO UPDATE SET calls = calls + 1, cached = cached + excluded.cached,
    estimated = estimated + excluded.estimated, input_tokens = input_tokens + excluded.input_tokens,
    output_tokens = output_tokens + excluded.output_tokens, cost_micro_usd = cost_micro_usd + excluded.cost_micro_usd,
    credit_micro_usd = credit_micro_usd + excluded.credit_micro_usd;
END;

-- An agent that goes to another account takes its usage with it.
CREATE TRIGGER usage_moves_between_accounts AFTER UPDATE OF user_id ON usage_days WHEN NEW.user_id <> OLD.user_id
BEGIN
  UPDATE usage_account_days SET calls = calls - OLD.calls, cached = cached - OLD.cached,
    estimated = estimated - OLD.estimated, input_tokens = input_tokens - OLD.input_tokens,
    output_tokens = output_tokens - OLD.output_tokens, cost_micro_usd = cost_micro_usd - OLD.cost_micro_usd,
    credit_micro_usd = credit_micro_usd - OLD.credit_micro_usd
  WHERE user_id = OLD.user_id AND day = OLD.day AND provider = OLD.provider AND model = OLD.model
    AND own_key = OLD.own_key;
  DELETE FROM usage_account_days WHERE user_id = OLD.user_id AND day = OLD.day AND provider = OLD.provider
    AND model = OLD.model AND own_key = OLD.own_key AND calls = 0;
  INSERT INTO usage_account_days VALUES (NEW.user_id, NEW.day, NEW.provider, NEW.model, NEW.own_key, NEW.calls,
    NEW.cached, NEW.estimated, NEW.input_tokens, NEW.output_tokens, NEW.cost_micro_usd, NEW.credit_micro_usd)
  ON CONFLICT DO UPDATE SET calls = calls + excluded.calls, cached = cached + excluded.cached,
    estimated = estimated + excluded.estimated, input_tokens = input_tokens + excluded.input_tokens,
    output_tokens = output_tokens + excluded.output_tokens, cost_micro_usd = cost_micro_usd + excluded.cost_micro_usd,
    credit_micro_usd = credit_micro_usd + excluded.credit_micro_usd;
END;

-- By agent first, so that the sums of all agents of an account are read in order. month: such as 202607, UTC.
CREATE TABLE usage_agent_months (
  user_id TEXT NOT NULL,
  agent_id TEXT NOT NULL,
  month INTEGER NOT NULL,
  calls INTEGER NOT NULL,
  cached INTEGER NOT NULL,
  estimated INTEGER NOT NULL,
  input_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  cost_micro_usd INTEGER NOT NULL,
  credit_micro_usd INTEGER NOT NULL,
  own_key_micro_usd INTEGER NOT NULL,
  PRIMARY KEY (user_id, agent_id, month)
) STRICT, WITHOUT ROWID;

INSERT INTO usage_agent_months
SELECT user_id, agent_id, CAST(strftime('%Y%m', day * 86400, 'unixepoch') AS INTEGER), sum(calls), sum(cached),
  sum(estimated), sum(input_tokens), sum(output_tokens), sum(cost_micro_usd), sum(credit_micro_usd),
  sum(cost_micro_usd * own_key)
FROM usage_days GROUP BY 1, 2, 3;

CREATE TRIGGER usage_adds_up_by_month AFTER INSERT ON usage
BEGIN
  INSERT INTO usage_agent_months VALUES (coalesce(NEW.user_id, ''), coalesce(NEW.agent_id, ''),
    CAST(strftime('%Y%m', NEW.at / 1000, 'unixepoch') AS INTEGER), 1, NEW.cached, NEW.estimated, NEW.input_tokens,
    NEW.output_tokens, NEW.cost_micro_usd, NEW.credit_micro_usd, NEW.cost_micro_usd * NEW.own_key)
  ON CONFLICT DO UPDATE SET calls = calls + 1, cached = cached + excluded.cached,
    estimated = estimated + excluded.estimated, input_tokens = input_tokens + excluded.input_tokens,
    output_tokens = output_tokens + excluded.output_tokens, cost_micro_usd = cost_micro_usd + excluded.cost_micro_usd,
    credit_micro_usd = credit_micro_usd + excluded.credit_micro_usd,
    own_key_micro_usd = own_key_micro_usd + excluded.own_key_micro_usd;
END;

CREATE TRIGGER usage_months_move_between_accounts AFTER UPDATE OF user_id ON usage_days WHEN NEW.user_id <> OLD.user_id
BEGIN
  UPDATE usage_agent_months SET calls = calls - OLD.calls, cached = cached - OLD.cached,
    estimated = estimated - OLD.estimated, input_tokens = input_tokens - OLD.input_tokens,
    output_tokens = output_tokens - OLD.output_tokens, cost_micro_usd = cost_micro_usd - OLD.cost_micro_usd,
    credit_micro_usd = credit_micro_usd - OLD.credit_micro_usd,
    own_key_micro_usd = own_key_micro_usd - OLD.cost_micro_usd * OLD.own_key
  WHERE user_id = OLD.user_id AND agent_id = OLD.agent_id
    AND month = CAST(strftime('%Y%m', OLD.day * 86400, 'unixepoch') AS INTEGER);
  DELETE FROM usage_agent_months WHERE user_id = OLD.user_id AND agent_id = OLD.agent_id
    AND month = CAST(strftime('%Y%m', OLD.day * 86400, 'unixepoch') AS INTEGER) AND calls = 0;
  INSERT INTO usage_agent_months VALUES (NEW.user_id, NEW.agent_id,
    CAST(strftime('%Y%m', NEW.day * 86400, 'unixepoch') AS INTEGER), NEW.calls, NEW.cached, NEW.estimated,
    NEW.input_tokens, NEW.output_tokens, NEW.cost_micro_usd, NEW.credit_micro_usd, NEW.cost_micro_usd * NEW.own_key)
  ON CONFLICT DO UPDATE SET calls = calls + excluded.calls, cached = cached + excluded.cached,
    estimated = estimated + excluded.estimated, input_tokens = input_tokens + excluded.input_tokens,
    output_tokens = output_tokens + excluded.output_tokens, cost_micro_usd = cost_micro_usd + excluded.cost_micro_usd,
    credit_micro_usd = credit_micro_usd + excluded.credit_micro_usd,
    own_key_micro_usd = own_key_micro_usd + excluded.own_key_micro_usd;
END;
