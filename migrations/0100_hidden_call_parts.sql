-- What a request for approval shows its owner, where parts of the call are blacked out in the other columns. Sealed.
ALTER TABLE approvals ADD COLUMN whole TEXT;
