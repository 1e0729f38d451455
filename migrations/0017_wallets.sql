-- Wallets, spending policies, and the ledger of spends. Amounts in USD are millionths; amounts of a token are
-- texts, in its smallest unit. Times are epoch milliseconds.
CREATE TABLE wallets (
  -- The id that the sealed key is bound to.
  id TEXT PRIMARY KEY,
  -- NULL: the account is deleted. The key is kept, since the wallet may still hold money.
  user_id TEXT,
  -- The user's own wallet, a managed wallet, or a wallet from a key that the user gave or requested.
  kind TEXT NOT NULL CHECK (kind IN ('user', 'managed', 'client')),
  -- Of a managed wallet: the email it was made for.
  name TEXT NOT NULL,
  -- With its checksum (EIP-55).
  address TEXT NOT NULL,
  -- Which root key the private key is sealed under, and that key. NULL: the platform keeps it.
  key_id TEXT,
  sealed TEXT,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX wallets_one_of_user ON wallets (user_id) WHERE kind = 'user';
CREATE UNIQUE INDEX wallets_one_of_email ON wallets (user_id, name) WHERE kind = 'managed';
CREATE UNIQUE INDEX wallets_by_user ON wallets (user_id, address);
CREATE INDEX wallets_by_key ON wallets (key_id) WHERE sealed IS NOT NULL;

CREATE TRIGGER users_leave_their_wallets AFTER DELETE ON users
BEGIN
  UPDATE wallets SET user_id = NULL, name = '' WHERE user_id = OLD.id;
END;

-- A user without a row has the default policy.
CREATE TABLE wallet_policies (
  user_id TEXT PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
  per_transaction INTEGER NOT NULL,
  per_day INTEGER NOT NULL,
  -- JSON lists of addresses in small letters; NULL: any.
  recipients TEXT,
  assets TEXT,
  -- Larger amounts wait for the owner's approval; NULL: none do.
  approval_above INTEGER,
  -- When off, nothing is signed.
  enabled INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The ledger. A row is stored before anything is signed, and counts against the policy unless it fails.
CREATE TABLE wallet_spends (
  -- UUIDv7: the order of signing.
  id TEXT PRIMARY KEY,
  -- Kept when the account is deleted.
  user_id TEXT NOT NULL,
  agent_id TEXT,
  wallet_id TEXT NOT NULL REFERENCES wallets (id),
  -- Identifies a repeated request as the same spend.
  request_key TEXT,
  request_hash TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('send', 'trade', 'pay')),
  network TEXT NOT NULL CHECK (network IN ('mainnet_chain', 'testnet_chain')),
  -- The wallet's address; with the network it identifies the nonce queue.
  address TEXT NOT NULL,
  -- The token that is spent, its amount, and the value in USD.
  asset TEXT NOT NULL,
  units TEXT NOT NULL,
  usd INTEGER NOT NULL,
  -- As the caller wrote it.
  amount TEXT NOT NULL,
  recipient TEXT,
  -- JSON: further details for the owner.
  details TEXT NOT NULL,
  -- JSON: the calls to sign one after the other and the index of the next, or the authorization of a payment.
  plan TEXT NOT NULL,
  step INTEGER NOT NULL DEFAULT 0,
  -- waiting: for the owner. reserved: to be signed. signed: stored, perhaps already sent. sent: a node accepted it.
  state TEXT NOT NULL CHECK (state IN ('waiting', 'reserved', 'signed', 'sent', 'confirmed', 'failed')),
  reason TEXT,
  hash TEXT,
  created_at INTEGER NOT NULL,
  -- The time from which it counts against the daily limit.
  reserved_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX wallet_spends_once ON wallet_spends (user_id, request_key);
CREATE INDEX wallet_spends_by_user ON wallet_spends (user_id, id);
CREATE INDEX wallet_spends_of_day ON wallet_spends (user_id, reserved_at) WHERE state <> 'failed';
CREATE INDEX wallet_spends_open ON wallet_spends (network, address, id) WHERE state IN ('reserved', 'signed', 'sent');

-- Every signed transaction, stored before it is sent. A stuck one is replaced by another with the same nonce.
CREATE TABLE wallet_transactions (
  hash TEXT PRIMARY KEY,
  spend_id TEXT NOT NULL REFERENCES wallet_spends (id) ON DELETE CASCADE,
  step INTEGER NOT NULL,
  network TEXT NOT NULL,
  address TEXT NOT NULL,
  nonce INTEGER NOT NULL,
  -- 0, 1, 2, … with rising fees.
  attempt INTEGER NOT NULL,
  raw TEXT NOT NULL,
  -- JSON: gas and fees.
  cost TEXT NOT NULL,
  -- 0: whether it can be mined, or another with its nonce was, is known.
  open INTEGER NOT NULL DEFAULT 1,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX wallet_transactions_nonce ON wallet_transactions (network, address, nonce, attempt) WHERE open = 1;
CREATE INDEX wallet_transactions_by_spend ON wallet_transactions (spend_id);
