-- Webhooks: the endpoints that receive events, and the delivery of each event to each endpoint. Times are epoch milliseconds.
CREATE TABLE webhook_endpoints (
  id TEXT PRIMARY KEY,
  -- NULL: the operator's endpoint (WEBHOOK_URL). No foreign key: it stays until the user's deletion is delivered to it.
  user_id TEXT,
  url TEXT NOT NULL,
  -- JSON list of event types, groups such as `agent.*`, or `*`.
  types TEXT NOT NULL,
  description TEXT NOT NULL,
  -- Sealed with the endpoint's id as context.
  secret TEXT NOT NULL,
  -- JSON list of previous secrets, sealed, each with the time (`until`) up to which it signs too.
  previous_secrets TEXT NOT NULL DEFAULT '[]',
  -- 1: created by an admin; receives all users' events, as long as its owner is an admin.
  wide INTEGER NOT NULL DEFAULT 0,
  active INTEGER NOT NULL DEFAULT 1,
  disabled_reason TEXT,
  -- It receives the events after this one.
  from_seq INTEGER NOT NULL,
  owner_gone INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX webhook_endpoints_user ON webhook_endpoints (user_id, id);
CREATE INDEX webhook_endpoints_wide ON webhook_endpoints (id) WHERE active = 1 AND wide = 1;
CREATE INDEX webhook_endpoints_active ON webhook_endpoints (from_seq) WHERE active = 1;
CREATE INDEX webhook_endpoints_gone ON webhook_endpoints (id) WHERE owner_gone = 1;

CREATE TRIGGER users_leave_their_webhooks AFTER DELETE ON users
BEGIN
  UPDATE webhook_endpoints SET owner_gone = 1 WHERE user_id = OLD.id;
END;

CREATE TABLE webhook_deliveries (
  -- UUIDv7, created at the dispatch of the event, so that ids sort by time.
  id TEXT PRIMARY KEY,
  endpoint_id TEXT NOT NULL REFERENCES webhook_endpoints (id) ON DELETE CASCADE,
  event_seq INTEGER NOT NULL,
  event_id TEXT NOT NULL,
  type TEXT NOT NULL,
  status TEXT NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'delivered', 'failed')),
  attempts INTEGER NOT NULL DEFAULT 0,
  last_status INTEGER,
  last_error TEXT,
  -- NULL unless pending.
  next_attempt_at INTEGER,
  -- Until then a process attempts it; NULL if none does.
  claimed_until INTEGER,
  created_at INTEGER NOT NULL,
  delivered_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX webhook_deliveries_once ON webhook_deliveries (endpoint_id, event_seq);
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (endpoint_id, next_attempt_at) WHERE status = 'pending';

-- The number of the last dispatched event.
CREATE TABLE webhook_cursor (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  seq INTEGER NOT NULL
) STRICT;
INSERT INTO webhook_cursor (id, seq) VALUES (1, 0);
