-- Credits bought with a stablecoin: what was transferred to the operator's address, and the authorizations of x402 that people
-- have given.

-- id: `chain:84532:0x12…`, with `:1` and so on for further transfers of one transaction; it stays the same when the chain puts
-- the transaction into another block. payer: lower case. micro_usd: what was paid. worth_micro_usd: the model use that it buys,
-- at the price of that moment. state: 'seen' in a block that may still be replaced, 'unclaimed' final, from a wallet that no
-- account has proven to be its own, 'credited'. user_id is kept when the account is deleted, as the payment is.
CREATE TABLE stablecoin_transfers (
  id TEXT PRIMARY KEY,
  hash TEXT NOT NULL,
  payer TEXT NOT NULL,
  micro_usd INTEGER NOT NULL,
  block INTEGER NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('seen', 'unclaimed', 'credited')),
  user_id TEXT,
  worth_micro_usd INTEGER NOT NULL DEFAULT 0,
  credits INTEGER NOT NULL DEFAULT 0,
  at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX stablecoin_transfers_open ON stablecoin_transfers (payer) WHERE state <> 'credited';
CREATE INDEX stablecoin_transfers_of_account ON stablecoin_transfers (user_id, at) WHERE user_id IS NOT NULL;

-- The last block of each chain up to which all transfers are read.
CREATE TABLE stablecoin_progress (
  chain_id INTEGER PRIMARY KEY,
  block INTEGER NOT NULL
) STRICT;

-- What payments of an account bought beyond whole credits (10,000 micro-USD each); the next payment adds to it.
CREATE TABLE credit_rests (
  user_id TEXT PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
  micro_usd INTEGER NOT NULL CHECK (micro_usd BETWEEN 0 AND 9999)
) STRICT, WITHOUT ROWID;

-- Authorizations (EIP-3009) that an account has given, written before they are used. Their signatures are not kept.
-- units: in the token's smallest unit. valid_before: epoch seconds. hash: the transaction that was signed for it last.
-- transfer_id: the transfer that it made.
CREATE TABLE x402_authorizations (
  chain_id INTEGER NOT NULL,
  payer TEXT NOT NULL,
  nonce TEXT NOT NULL,
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  units TEXT NOT NULL,
  valid_before INTEGER NOT NULL,
  hash TEXT,
  transfer_id TEXT,
  PRIMARY KEY (chain_id, payer, nonce)
) STRICT, WITHOUT ROWID;
CREATE INDEX x402_authorizations_of_account ON x402_authorizations (user_id);
