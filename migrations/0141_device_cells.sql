-- Of cell 0, where programs ask: the cell whose account decides about this sign-in. It has the row from then on.
ALTER TABLE device_sign_ins ADD COLUMN cell INTEGER;
