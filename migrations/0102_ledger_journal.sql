-- Model calls under way, and those whose rows are not written yet, of a service on several machines: the next owner of the
-- database adds them to the ledger. A single machine keeps them in a file.
CREATE TABLE ledger_journal (
  id TEXT PRIMARY KEY,
  row TEXT NOT NULL
) STRICT, WITHOUT ROWID;
