-- What admins store in the running service: keys of model providers, default models, and steps of the first run that an
-- account skipped.

CREATE TABLE model_providers (
  provider TEXT PRIMARY KEY,
  -- NULL: a server without keys.
  sealed_key TEXT,
  -- The last characters of the key, by which people know it; NULL for short keys.
  key_end TEXT,
  -- NULL: the provider's own address.
  base_url TEXT,
  updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE default_models (
  choice TEXT PRIMARY KEY CHECK (choice IN ('model_a', 'model_b')),
  -- provider_N:id
  model TEXT NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE setup_skips (
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  step TEXT NOT NULL,
  skipped_at INTEGER NOT NULL,
  PRIMARY KEY (user_id, step)
) STRICT, WITHOUT ROWID;
