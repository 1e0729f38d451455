-- Where receiving last ended, in the adapter's format, so that it resumes there after a restart.
ALTER TABLE channel_connections ADD COLUMN resume TEXT;
