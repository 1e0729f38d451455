-- The sums of agents by month, in the order in which reports read them: all agents of an account in one month. By agent first, a
-- report read the rows of all years.

DROP TRIGGER usage_months_move_between_accounts;

CREATE TABLE usage_months (
  user_id TEXT NOT NULL,
  month INTEGER NOT NULL,
  agent_id TEXT NOT NULL,
  calls INTEGER NOT NULL,
  cached INTEGER NOT NULL,
  estimated INTEGER NOT NULL,
  input_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  cost_micro_usd INTEGER NOT NULL,
  credit_micro_usd INTEGER NOT NULL,
  own_key_micro_usd INTEGER NOT NULL,
  PRIMARY KEY (user_id, month, agent_id)
) STRICT, WITHOUT ROWID;

INSERT INTO usage_months SELECT user_id, month, agent_id, calls, cached, estimated, input_tokens, output_tokens,
  cost_micro_usd, credit_micro_usd, own_key_micro_usd
FROM usage_agent_months ORDER BY user_id, month, agent_id;
DROP TABLE usage_agent_months;
ALTER TABLE usage_months RENAME TO usage_agent_months;

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
  INSERT INTO usage_agent_months VALUES (NEW.user_id, CAST(strftime('%Y%m', NEW.day * 86400, 'unixepoch') AS INTEGER),
    NEW.agent_id, NEW.calls, NEW.cached, NEW.estimated,
    NEW.input_tokens, NEW.output_tokens, NEW.cost_micro_usd, NEW.credit_micro_usd, NEW.cost_micro_usd * NEW.own_key)
  ON CONFLICT DO UPDATE SET calls = calls + excluded.calls, cached = cached + excluded.cached,
    estimated = estimated + excluded.estimated, input_tokens = input_tokens + excluded.input_tokens,
    output_tokens = output_tokens + excluded.output_tokens, cost_micro_usd = cost_micro_usd + excluded.cost_micro_usd,
    credit_micro_usd = credit_micro_usd + excluded.credit_micro_usd,
    own_key_micro_usd = own_key_micro_usd + excluded.own_key_micro_usd;
END;
