-- The taint of a text: 0 none, 1 words of people other than the owner, 2 content from outside the conversation. The
-- highest taint of a turn's context is stored with what the turn writes.
ALTER TABLE messages ADD COLUMN taint INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN summary_taint INTEGER NOT NULL DEFAULT 0;
ALTER TABLE inbox ADD COLUMN taint INTEGER NOT NULL DEFAULT 0;
ALTER TABLE memories ADD COLUMN taint INTEGER NOT NULL DEFAULT 0;
ALTER TABLE reminders ADD COLUMN taint INTEGER NOT NULL DEFAULT 0;
UPDATE memories SET taint = 1 WHERE circle <> '';
UPDATE reminders SET taint = 1 WHERE by_owner = 0;

-- Imported reminders wait until the owner switches them on.
ALTER TABLE reminders ADD COLUMN enabled INTEGER NOT NULL DEFAULT 1;
-- Whether the configuration came in an imported file and the owner has not saved one since.
ALTER TABLE agent_configs ADD COLUMN imported INTEGER NOT NULL DEFAULT 0;
