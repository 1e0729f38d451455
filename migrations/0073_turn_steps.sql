-- The journal of turns: each answer of a model that calls tools, and each of these calls, before and after it runs.
CREATE TABLE turn_steps (
  agent_id TEXT NOT NULL REFERENCES agents (id) ON DELETE CASCADE,
  -- The inbox entry whose turn it is.
  turn_id TEXT NOT NULL,
  seq INTEGER NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('model', 'tool')),
  -- The tool, or the model that answered.
  name TEXT NOT NULL,
  effect TEXT CHECK (effect IN ('read', 'idempotent', 'once')),
  -- To be shown: secrets are blacked out, and long texts cut.
  input TEXT,
  output TEXT,
  -- Of a call that has ended.
  ok INTEGER CHECK (ok IN (0, 1)),
  -- Of everything that the model had read when the step ended.
  taint INTEGER NOT NULL,
  -- The exact texts, sealed, for as long as the turn may go on.
  sealed TEXT,
  -- NULL for a call that waits for the owner's approval.
  started_at INTEGER,
  -- NULL for a call without a result: it runs, waits, or was interrupted.
  ended_at INTEGER,
  PRIMARY KEY (agent_id, turn_id, seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX turn_steps_by_turn ON turn_steps (turn_id);

-- Set with the first step, so that a turn without steps never looks for them.
ALTER TABLE inbox ADD COLUMN has_steps INTEGER NOT NULL DEFAULT 0 CHECK (has_steps IN (0, 1));

-- Triggers, because a turn ends in many ways. A parked turn may run again.
CREATE TRIGGER turn_steps_end AFTER UPDATE OF status ON inbox
WHEN NEW.has_steps = 1 AND NEW.status IN ('done', 'failed', 'cancelled') BEGIN
  UPDATE turn_steps SET sealed = NULL WHERE agent_id = NEW.agent_id AND turn_id = NEW.id AND sealed IS NOT NULL;
END;
-- A message is wiped with its conversation.
CREATE TRIGGER turn_steps_wipe AFTER UPDATE OF content ON inbox
WHEN NEW.has_steps = 1 AND NEW.content = '' BEGIN
  DELETE FROM turn_steps WHERE agent_id = NEW.agent_id AND turn_id = NEW.id;
END;
