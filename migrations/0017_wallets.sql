-- Wallets, what may be spent from them, and the ledger of what was. Amounts in USD are millionths; amounts of a token are
-- texts, in its smallest unit. Times are epoch milliseconds.
CREATE TABLE wallets (
  -- What its sealed key is bound to.
  id TEXT PRIMARY KEY,
  -- NULL: its account is gone. The key stays, since there may be money that somebody comes back for.
  user_id TEXT,
  -- The one wallet of a user; one of the managed platform; one made from a key that the user gave, or wanted.
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

-- A user without a row has the policy that everybody has at first.
CREATE TABLE wallet_policies (
  user_id TEXT PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
  per_transaction INTEGER NOT NULL,
  per_day INTEGER NOT NULL,
  -- JSON lists of addresses in small letters; NULL: any.
  recipients TEXT,
  assets TEXT,
  -- More than this waits for the owner's word; NULL: nothing does.
  approval_above INTEGER,
  -- Off: nothing is signed.
  enabled INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The ledger. A row is there before anything is signed, and counts against the policy until it has failed.
CREATE TABLE wallet_spends (
  -- UUIDv7: the order in which they are signed.
  id TEXT PRIMARY KEY,
  -- Kept when the account goes.
  user_id TEXT NOT NULL,
  agent_id TEXT,
  wallet_id TEXT NOT NULL REFERENCES wallets (id),
  -- What makes a request that comes again the same spend.
  request_key TEXT,
  request_hash TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('send', 'trade', 'pay')),
  network TEXT NOT NULL CHECK (network IN ('mainnet_chain', 'testnet_chain')),
  -- Of the wallet; with the network it is the lane in which nonces follow each other.
  address TEXT NOT NULL,
  -- The token that leaves the wallet, how much of it, and what that was worth.
  asset TEXT NOT NULL,
  units TEXT NOT NULL,
  usd INTEGER NOT NULL,
  -- As the caller gave it.
  amount TEXT NOT NULL,
  recipient TEXT,
  -- JSON: what else the owner is shown.
  details TEXT NOT NULL,
  -- JSON: the calls to be signed one after the other, and which is next; or the authorization of a payment.
  plan TEXT NOT NULL,
  step INTEGER NOT NULL DEFAULT 0,
  -- waiting: for the owner. reserved: to be signed. signed: on disk, maybe on its way. sent: a node has it.
  state TEXT NOT NULL CHECK (state IN ('waiting', 'reserved', 'signed', 'sent', 'confirmed', 'failed')),
  reason TEXT,
  hash TEXT,
  created_at INTEGER NOT NULL,
  -- From when it counts for the day.
  reserved_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX wallet_spends_once ON wallet_spends (user_id, request_key);
CREATE INDEX wallet_spends_by_user ON wallet_spends (user_id, id);
CREATE INDEX wallet_spends_of_day ON wallet_spends (user_id, reserved_at) WHERE state <> 'failed';
CREATE INDEX wallet_spends_open ON wallet_spends (network, address, id) WHERE state IN ('reserved', 'signed', 'sent');

-- Every transaction that was signed, before a node gets it. One that is stuck is followed by another with the same nonce.
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
