-- What is known of each agent's MCP servers: whether they could be reached, and the tools they offer, so that no turn has to
-- wait for a connection to know them.
CREATE TABLE mcp_servers (
  agent_id TEXT NOT NULL REFERENCES agents (id) ON DELETE CASCADE,
  -- The name in the configuration.
  name TEXT NOT NULL,
  -- Hash of the address or command: with another one it is another server, and the row counts as missing.
  digest TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('connected', 'unauthorized', 'failed')),
  last_error TEXT,
  -- As the server gives it.
  version TEXT NOT NULL DEFAULT '',
  -- Whether it speaks a revision of the protocol that needs no probing.
  era TEXT,
  -- JSON: names, descriptions and schemas, within limits.
  tools TEXT NOT NULL DEFAULT '[]',
  -- JSON: what was left out of the list, and why.
  omitted TEXT NOT NULL DEFAULT '[]',
  has_resources INTEGER NOT NULL DEFAULT 0,
  has_prompts INTEGER NOT NULL DEFAULT 0,
  -- When the tools were listed; NULL: never.
  listed_at INTEGER,
  checked_at INTEGER NOT NULL,
  PRIMARY KEY (agent_id, name)
) STRICT;

-- Sign-ins at MCP servers by OAuth, and those that are under way.
CREATE TABLE mcp_sign_ins (
  agent_id TEXT NOT NULL REFERENCES agents (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  -- Hash of the server's address: tokens are never sent to another one.
  digest TEXT NOT NULL,
  -- JSON: registration, tokens, verifier, and the address where the owner signs in.
  sealed TEXT NOT NULL,
  -- Hash of the state that the authorization server sends back; NULL when no sign-in is under way.
  state_hash TEXT UNIQUE,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (agent_id, name)
) STRICT;
