-- What a wallet's lane must remember to judge by more than a moment, and what spending costs beside the spend.

-- Since when the chain has said that the nonce of a signed spend is used, without a receipt of it. NULL: it does not.
ALTER TABLE wallet_spends ADD COLUMN overtaken_at INTEGER;
-- In wei, as text: what its transactions took for gas so far.
ALTER TABLE wallet_spends ADD COLUMN fee TEXT;

-- Whether somebody brought the private key, and may hold it elsewhere.
ALTER TABLE wallets ADD COLUMN brought INTEGER NOT NULL DEFAULT 0;
-- Of those that are there nobody knows.
UPDATE wallets SET brought = 1 WHERE kind = 'client';

-- A day's spends: those that may still leave however old they are, and those that left, or wait, since then.
DROP INDEX wallet_spends_of_day;
CREATE INDEX wallet_spends_unsettled ON wallet_spends (user_id) WHERE state IN ('reserved', 'signed', 'sent');
CREATE INDEX wallet_spends_since ON wallet_spends (user_id, updated_at) WHERE state IN ('waiting', 'confirmed');

-- Nonces that were used a moment ago, for nodes that are behind.
CREATE INDEX wallet_transactions_since ON wallet_transactions (network, address, created_at);
