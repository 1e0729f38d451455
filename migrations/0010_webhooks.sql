-- Webhooks: where events go, and each event's way there. Times are epoch milliseconds.
CREATE TABLE webhook_endpoints (
  id TEXT PRIMARY KEY,
  -- NULL: the operator's own, from WEBHOOK_URL. No foreign key: it outlives its user by the news of that.
  user_id TEXT,
  url TEXT NOT NULL,
  -- JSON: types of events, `agent.*`, `*`.
  types TEXT NOT NULL,
  description TEXT NOT NULL,
  -- Sealed for this endpoint.
  secret TEXT NOT NULL,
  -- JSON: earlier ones, sealed, which sign too until their time is over.
  previous_secrets TEXT NOT NULL DEFAULT '[]',
  -- Written by an admin: gets everybody's events, as long as its owner is one.
  wide INTEGER NOT NULL DEFAULT 0,
  active INTEGER NOT NULL DEFAULT 1,
  disabled_reason TEXT,
  -- Events after this one are meant for it.
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
  -- UUIDv7, made when the event was taken up: old ones come first.
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
  -- Somebody is at it until then.
  claimed_until INTEGER,
  created_at INTEGER NOT NULL,
  delivered_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX webhook_deliveries_once ON webhook_deliveries (endpoint_id, event_seq);
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (endpoint_id, next_attempt_at) WHERE status = 'pending';

-- Up to which event all are handed out.
CREATE TABLE webhook_cursor (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  seq INTEGER NOT NULL
) STRICT;
INSERT INTO webhook_cursor (id, seq) VALUES (1, 0);
