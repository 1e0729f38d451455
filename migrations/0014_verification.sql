-- Agent verification: challenges to sign, and the authenticators of users.

-- Only the newest challenge of each kind is valid, and it is deleted when it is used. It is not secret: only
-- a signature over it proves anything.
CREATE TABLE verification_challenges (
  agent_id TEXT NOT NULL REFERENCES agents (id) ON DELETE CASCADE,
  type TEXT NOT NULL CHECK (type IN ('attestation', 'exchange', 'name_service', 'webauthn')),
  user_id TEXT NOT NULL,
  nonce TEXT NOT NULL,
  -- The exact text that wallets sign.
  message TEXT NOT NULL,
  -- The ceremony of an authenticator: registration or authentication.
  ceremony TEXT CHECK (ceremony IN ('create', 'get')),
  expires_at INTEGER NOT NULL,
  PRIMARY KEY (agent_id, type)
) STRICT, WITHOUT ROWID;

CREATE TABLE webauthn_credentials (
  -- The credential id in base64url.
  id TEXT PRIMARY KEY,
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  -- The public key in COSE form, base64url.
  public_key TEXT NOT NULL,
  -- The signature counter; if it does not grow, the authenticator was cloned.
  counter INTEGER NOT NULL,
  -- JSON: transport hints for the browser.
  transports TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX webauthn_credentials_by_user ON webauthn_credentials (user_id);

-- Clears the verification when an agent changes its owner, in any way.
CREATE TRIGGER agents_leave_verification_with_owner AFTER UPDATE OF user_id ON agents WHEN NEW.user_id <> OLD.user_id
BEGIN
  UPDATE agents SET verified = 0, verification_type = NULL, attestation_uid = NULL, verifier_address = NULL,
    verified_at = NULL, verification_metadata = NULL WHERE id = NEW.id;
  DELETE FROM verification_challenges WHERE agent_id = NEW.id;
END;
