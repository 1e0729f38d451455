-- What a platform said of a bot that its adapter needs later, in the adapter's own form.
ALTER TABLE channel_connections ADD COLUMN detail TEXT;
