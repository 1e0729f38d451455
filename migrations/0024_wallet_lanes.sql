-- Facts that a wallet's nonce queue needs across checks, and the gas costs of spends.

-- Time since which the chain reports the nonce of a signed spend as used, without a receipt for it. NULL: it does not.
ALTER TABLE wallet_spends ADD COLUMN overtaken_at INTEGER;
-- The gas costs of its transactions so far, in wei, as text.
ALTER TABLE wallet_spends ADD COLUMN fee TEXT;

-- Whether the private key was imported, so that another copy may exist.
ALTER TABLE wallets ADD COLUMN brought INTEGER NOT NULL DEFAULT 0;
-- This is unknown for existing wallets: those from a key count as imported.
UPDATE wallets SET brought = 1 WHERE kind = 'client';

-- Spends of the daily limit: those that may still be sent, whatever their age, and those that were sent or wait since then.
DROP INDEX wallet_spends_of_day;
CREATE INDEX wallet_spends_unsettled ON wallet_spends (user_id) WHERE state IN ('reserved', 'signed', 'sent');
CREATE INDEX wallet_spends_since ON wallet_spends (user_id, updated_at) WHERE state IN ('waiting', 'confirmed');

-- Recently used nonces, for nodes that lag behind.
CREATE INDEX wallet_transactions_since ON wallet_transactions (network, address, created_at);
