-- Requests for approval say whether the agent had read something that its owner did not write.
ALTER TABLE approvals ADD COLUMN taint INTEGER NOT NULL DEFAULT 0;
