-- Files that came with a message that is still to be answered, as the channel describes them: JSON. They stay at the platform.
ALTER TABLE inbox ADD COLUMN attachments TEXT;
