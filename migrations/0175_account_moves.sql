-- Accounts that move from one cell to another.

-- In cell 0: the moves under way. The account is in the cell `source` until `outcome` is 'moved', then in `target`; with 'undone' it stays.
-- An outcome is written once, and what follows from it is done after that. `names`: JSON, what the directory gives to the target.
CREATE TABLE account_moves (
  account_id TEXT PRIMARY KEY,
  source INTEGER NOT NULL,
  target INTEGER NOT NULL,
  outcome TEXT CHECK (outcome IN ('moved', 'undone')),
  names TEXT NOT NULL DEFAULT '[]',
  begun_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- In every cell: accounts that are leaving it for `cell`, have left it and are now in `cell`, are arriving from there, or have arrived
-- and are here. `details`: JSON.
CREATE TABLE moving_accounts (
  account_id TEXT PRIMARY KEY,
  state TEXT NOT NULL CHECK (state IN ('leaving', 'left', 'arriving', 'here')),
  cell INTEGER NOT NULL,
  details TEXT NOT NULL DEFAULT '{}'
) STRICT, WITHOUT ROWID;

-- What has been given out for these accounts: ids, names, hashes of tokens. The mark in it is that of the cell that has made it.
CREATE TABLE moved_keys (
  key TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES moving_accounts (account_id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX moved_keys_by_account ON moved_keys (account_id);
