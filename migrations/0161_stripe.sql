-- Payments by Stripe: who is which customer there, what their subscription was when it was last read, and the handled events.

CREATE TABLE stripe_customers (
  user_id TEXT PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
  customer_id TEXT NOT NULL UNIQUE
) STRICT, WITHOUT ROWID;

-- Times are epoch milliseconds. grace_until: while a payment is missing, until when the plan stays in force.
CREATE TABLE stripe_subscriptions (
  user_id TEXT PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
  subscription_id TEXT NOT NULL,
  item_id TEXT NOT NULL,
  status TEXT NOT NULL,
  price_id TEXT NOT NULL,
  period_end INTEGER NOT NULL,
  grace_until INTEGER,
  cancels INTEGER NOT NULL CHECK (cancels IN (0, 1))
) STRICT, WITHOUT ROWID;

-- created: epoch seconds, as Stripe names it. Kept longer than Stripe repeats an event.
CREATE TABLE stripe_events (
  id TEXT PRIMARY KEY,
  created INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX stripe_events_by_time ON stripe_events (created);

-- All events before this time (epoch seconds) are handled.
CREATE TABLE stripe_progress (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  upto INTEGER NOT NULL
) STRICT;
