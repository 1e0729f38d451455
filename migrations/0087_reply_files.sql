-- Files that a turn sends with its reply are uploads, too. message_id is then the inbox entry that the reply answers.
-- sent_as: picture, audio, voice or document; null for files that came with the message.
ALTER TABLE upload_uses ADD COLUMN sent_as TEXT;
ALTER TABLE upload_uses ADD COLUMN caption TEXT;
-- The place among the files of the reply.
ALTER TABLE upload_uses ADD COLUMN position INTEGER;
-- The files of a reply, as JSON.
ALTER TABLE outbox ADD COLUMN files TEXT;
