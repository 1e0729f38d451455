-- Model use beyond what a plan includes, in whole US cents, as it was reported to Stripe's meter. month: such as 202607, UTC.
-- included_micro_usd: the most that a plan has included in this month, so that a smaller plan does not charge for use before
-- it. sending: reported, or about to be; it is written before the report, so that a crash repeats the same report.
CREATE TABLE stripe_meter_reports (
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  month INTEGER NOT NULL,
  included_micro_usd INTEGER NOT NULL,
  cents INTEGER NOT NULL DEFAULT 0,
  sending INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (user_id, month)
) STRICT, WITHOUT ROWID;
