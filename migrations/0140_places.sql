-- Of cell 0: which cell has a name that must be unique in the whole service (an e-mail address, a bot). A name is reserved
-- first, then used in its cell, then confirmed.
CREATE TABLE places (
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  cell INTEGER NOT NULL,
  -- When a reservation ends, in epoch ms; NULL once it is confirmed.
  until INTEGER,
  -- Changes with each reservation and each change of hands, so that what was asked about an earlier one does not count.
  version INTEGER NOT NULL,
  PRIMARY KEY (kind, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX places_reserved ON places (until) WHERE until IS NOT NULL;
