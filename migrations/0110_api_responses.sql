-- Responses of /v1/responses that an account had stored, to be continued by their id. `input` and `response` are JSON.
CREATE TABLE api_responses (
  id TEXT PRIMARY KEY,
  user_id TEXT NOT NULL REFERENCES users(id) ON DELETE CASCADE,
  -- The first response of the conversation.
  root_id TEXT NOT NULL,
  previous_id TEXT,
  -- The prefix of the model source that answered, and what it wants to know when the response is continued.
  source TEXT,
  state TEXT,
  input TEXT NOT NULL,
  response TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT;
CREATE INDEX api_responses_by_user ON api_responses (user_id, created_at DESC, bytes);
CREATE INDEX api_responses_by_root ON api_responses (root_id);
CREATE INDEX api_responses_by_expiry ON api_responses (expires_at);
