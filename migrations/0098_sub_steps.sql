-- The calls of tools within a call, as `delegate` makes them: JSON, as it is shown. NULL for none.
ALTER TABLE turn_steps ADD COLUMN sub_steps TEXT;
