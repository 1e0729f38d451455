-- What cell 0 has granted each cell of a budget that all cells have together, of a UTC day. The sum of a budget's rows is never above
-- its limit, and a cell spends no more than its row.

-- budget: 'public' or 'unpaid'. since: epoch ms, the beginning of the day.
CREATE TABLE budget_shares (
  budget TEXT NOT NULL,
  since INTEGER NOT NULL,
  cell INTEGER NOT NULL,
  micro_usd INTEGER NOT NULL,
  PRIMARY KEY (budget, since, cell)
) STRICT, WITHOUT ROWID;
