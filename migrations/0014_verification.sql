-- Agent verification: what was asked to be signed, and the authenticators of users.

-- The newest challenge of each kind is the one that counts, and it goes when it is used. Nothing in it is secret: only
-- a signature over it is worth anything.
CREATE TABLE verification_challenges (
  agent_id TEXT NOT NULL REFERENCES agents (id) ON DELETE CASCADE,
  type TEXT NOT NULL CHECK (type IN ('attestation', 'exchange', 'name_service', 'webauthn')),
  user_id TEXT NOT NULL,
  nonce TEXT NOT NULL,
  -- Exactly what wallets sign.
  message TEXT NOT NULL,
  -- What an authenticator was asked for: a new credential, or to show one that is known.
  ceremony TEXT CHECK (ceremony IN ('create', 'get')),
  expires_at INTEGER NOT NULL,
  PRIMARY KEY (agent_id, type)
) STRICT, WITHOUT ROWID;

CREATE TABLE webauthn_credentials (
  -- As the authenticator names it, in base64url.
  id TEXT PRIMARY KEY,
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  -- COSE, in base64url.
  public_key TEXT NOT NULL,
  -- The number of the last signature; one that does not grow is a copy's.
  counter INTEGER NOT NULL,
  -- JSON list of hints for the browser.
  transports TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX webauthn_credentials_by_user ON webauthn_credentials (user_id);

-- A new owner has proven nothing yet, whichever way the agent came to it.
CREATE TRIGGER agents_leave_verification_with_owner AFTER UPDATE OF user_id ON agents WHEN NEW.user_id <> OLD.user_id
BEGIN
  UPDATE agents SET verified = 0, verification_type = NULL, attestation_uid = NULL, verifier_address = NULL,
    verified_at = NULL, verification_metadata = NULL WHERE id = NEW.id;
  DELETE FROM verification_challenges WHERE agent_id = NEW.id;
END;
