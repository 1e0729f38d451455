-- The language of the sender, as the platform names it, such as `de` or `pt-br`; NULL where it does not.
ALTER TABLE inbox ADD COLUMN language TEXT;
