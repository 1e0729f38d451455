-- Facts about a bot from its platform that the adapter needs later, in the adapter's format.
ALTER TABLE channel_connections ADD COLUMN detail TEXT;
