-- Files of a message that is not answered yet, as JSON in the channel's format. The files stay on the platform.
ALTER TABLE inbox ADD COLUMN attachments TEXT;
