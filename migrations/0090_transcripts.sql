-- The model that wrote down the recordings of a message, as provider_N:id; NULL for a message without any.
ALTER TABLE inbox ADD COLUMN transcribed_by TEXT;
