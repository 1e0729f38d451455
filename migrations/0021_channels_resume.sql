-- Where receiving was when it last ended, in the adapter's own form, so that a restart goes on from there.
ALTER TABLE channel_connections ADD COLUMN resume TEXT;
