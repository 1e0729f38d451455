-- Accounts that have moved between cells: ids of their events in streams stay as they were given out in their first cell, although a move
-- shifts the numbers of events below those of the new cell.

CREATE TABLE event_shifts (
  user_id TEXT PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
  -- What all moves together have added to the numbers of the account's events: an id is the number less this.
  shift INTEGER NOT NULL,
  -- The newest number of the cell when the account arrived.
  since INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
