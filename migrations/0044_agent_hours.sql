-- What an agent did, hour by hour, for the figures that its owner sees: sums, so that no message is read again.
-- hour: hours since 1970-01-01, UTC. received, sent: messages and replies. answer_ms: of the turns that succeeded, from the
-- arrival of the message to the reply. s1 … s120: how many of these took at most so many seconds and more than the limit
-- before; longer: all others.
CREATE TABLE agent_hours (
  agent_id TEXT NOT NULL REFERENCES agents (id) ON DELETE CASCADE,
  hour INTEGER NOT NULL,
  received INTEGER NOT NULL DEFAULT 0,
  sent INTEGER NOT NULL DEFAULT 0,
  turns_ok INTEGER NOT NULL DEFAULT 0,
  turns_failed INTEGER NOT NULL DEFAULT 0,
  input_tokens INTEGER NOT NULL DEFAULT 0,
  output_tokens INTEGER NOT NULL DEFAULT 0,
  cost_micro_usd INTEGER NOT NULL DEFAULT 0,
  answer_ms INTEGER NOT NULL DEFAULT 0,
  s1 INTEGER NOT NULL DEFAULT 0,
  s2 INTEGER NOT NULL DEFAULT 0,
  s3 INTEGER NOT NULL DEFAULT 0,
  s5 INTEGER NOT NULL DEFAULT 0,
  s8 INTEGER NOT NULL DEFAULT 0,
  s13 INTEGER NOT NULL DEFAULT 0,
  s20 INTEGER NOT NULL DEFAULT 0,
  s30 INTEGER NOT NULL DEFAULT 0,
  s60 INTEGER NOT NULL DEFAULT 0,
  s120 INTEGER NOT NULL DEFAULT 0,
  longer INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (agent_id, hour)
) STRICT, WITHOUT ROWID;

-- The last 31 days. An id is a UUIDv7, which begins with its time.
WITH since AS (SELECT (unixepoch() - 2678400) * 1000 AS ms),
entries AS (
  SELECT agent_id, settled_at / 3600000 AS hour, kind <> 'reminder' AS received, inbox.status = 'done' AS sent,
    kind <> 'command' AND inbox.status = 'done' AS ok, kind <> 'command' AND inbox.status IN ('failed', 'parked') AS failed,
    settled_at - received_at AS took
  FROM since, agents JOIN inbox ON inbox.agent_id = agents.id
    AND inbox.id >= printf('%08x-%04x', since.ms >> 16, since.ms & 65535)
  WHERE inbox.status <> 'pending' AND settled_at IS NOT NULL AND error IS NOT 'AGENT_STOPPED'
)
INSERT INTO agent_hours (agent_id, hour, received, sent, turns_ok, turns_failed, answer_ms,
  s1, s2, s3, s5, s8, s13, s20, s30, s60, s120, longer)
SELECT agent_id, hour, sum(received), sum(sent), sum(ok), sum(failed), sum(ok * took),
  sum(ok AND took <= 1000), sum(ok AND took > 1000 AND took <= 2000), sum(ok AND took > 2000 AND took <= 3000),
  sum(ok AND took > 3000 AND took <= 5000), sum(ok AND took > 5000 AND took <= 8000),
  sum(ok AND took > 8000 AND took <= 13000), sum(ok AND took > 13000 AND took <= 20000),
  sum(ok AND took > 20000 AND took <= 30000), sum(ok AND took > 30000 AND took <= 60000),
  sum(ok AND took > 60000 AND took <= 120000), sum(ok AND took > 120000)
FROM entries GROUP BY agent_id, hour;

INSERT INTO agent_hours (agent_id, hour, input_tokens, output_tokens, cost_micro_usd)
SELECT agent_id, at / 3600000, sum(input_tokens), sum(output_tokens), sum(cost_micro_usd) FROM usage
WHERE at >= (unixepoch() - 2678400) * 1000 AND agent_id IN (SELECT id FROM agents) GROUP BY 1, 2
ON CONFLICT DO UPDATE SET input_tokens = excluded.input_tokens, output_tokens = excluded.output_tokens,
  cost_micro_usd = excluded.cost_micro_usd;

CREATE TRIGGER inbox_adds_to_hours AFTER UPDATE OF status ON inbox
WHEN OLD.status = 'pending' AND NEW.settled_at IS NOT NULL AND NEW.error IS NOT 'AGENT_STOPPED'
BEGIN
  INSERT INTO agent_hours (agent_id, hour, received, sent, turns_ok, turns_failed, answer_ms,
    s1, s2, s3, s5, s8, s13, s20, s30, s60, s120, longer)
  SELECT NEW.agent_id, NEW.settled_at / 3600000, NEW.kind <> 'reminder', NEW.status = 'done', ok,
    NEW.kind <> 'command' AND NEW.status IN ('failed', 'parked'), ok * took,
    ok AND took <= 1000, ok AND took > 1000 AND took <= 2000, ok AND took > 2000 AND took <= 3000,
    ok AND took > 3000 AND took <= 5000, ok AND took > 5000 AND took <= 8000, ok AND took > 8000 AND took <= 13000,
    ok AND took > 13000 AND took <= 20000, ok AND took > 20000 AND took <= 30000, ok AND took > 30000 AND took <= 60000,
    ok AND took > 60000 AND took <= 120000, ok AND took > 120000
  FROM (SELECT NEW.kind <> 'command' AND NEW.status = 'done' AS ok, NEW.settled_at - NEW.received_at AS took) WHERE true
  ON CONFLICT DO UPDATE SET received = received + excluded.received, sent = sent + excluded.sent,
    turns_ok = turns_ok + excluded.turns_ok, turns_failed = turns_failed + excluded.turns_failed,
    answer_ms = answer_ms + excluded.answer_ms, s1 = s1 + excluded.s1, s2 = s2 + excluded.s2, s3 = s3 + excluded.s3,
    s5 = s5 + excluded.s5, s8 = s8 + excluded.s8, s13 = s13 + excluded.s13, s20 = s20 + excluded.s20,
    s30 = s30 + excluded.s30, s60 = s60 + excluded.s60, s120 = s120 + excluded.s120, longer = longer + excluded.longer;
END;

-- The row of a turn may be written after its agent was deleted.
CREATE TRIGGER usage_adds_to_hours AFTER INSERT ON usage WHEN NEW.agent_id IS NOT NULL
BEGIN
  INSERT INTO agent_hours (agent_id, hour, input_tokens, output_tokens, cost_micro_usd)
  SELECT id, NEW.at / 3600000, NEW.input_tokens, NEW.output_tokens, NEW.cost_micro_usd FROM agents WHERE id = NEW.agent_id
  ON CONFLICT DO UPDATE SET input_tokens = input_tokens + excluded.input_tokens,
    output_tokens = output_tokens + excluded.output_tokens, cost_micro_usd = cost_micro_usd + excluded.cost_micro_usd;
END;
