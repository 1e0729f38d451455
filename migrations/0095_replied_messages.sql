-- The platform's id of the message that this one replies to, as in platform_message_id, where the platform does not pass its files.
-- attachments are kept from now on as long as the text, so that a later message can refer to them.
ALTER TABLE inbox ADD COLUMN replies_to TEXT;
