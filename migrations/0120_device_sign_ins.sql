-- Programs that ask to be signed in with a code (RFC 8628). A row lives for minutes, and is deleted when the key is handed out.
CREATE TABLE device_sign_ins (
  -- Hashes of the code that the program keeps, and of the code that the person enters.
  device_hash TEXT PRIMARY KEY,
  user_hash TEXT NOT NULL UNIQUE,
  -- What the program says of itself, and where the request came from. Shown to the person, and the name of the key.
  client TEXT NOT NULL,
  device TEXT NOT NULL,
  address TEXT NOT NULL,
  -- Whether the request came directly from this machine: see api_keys.direct.
  direct INTEGER NOT NULL,
  -- JSON array: those asked for, from the approval on those granted.
  scopes TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  -- Seconds that must lie between two polls, and the time of the last one.
  interval_seconds INTEGER NOT NULL,
  polled_at INTEGER,
  state TEXT NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'approved', 'denied')),
  -- The account that has approved.
  user_id TEXT REFERENCES users (id) ON DELETE CASCADE,
  CHECK ((state = 'approved') = (user_id IS NOT NULL))
) STRICT;
CREATE INDEX device_sign_ins_expiry ON device_sign_ins (expires_at);
CREATE INDEX device_sign_ins_user ON device_sign_ins (user_id) WHERE user_id IS NOT NULL;
