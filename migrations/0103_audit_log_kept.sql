-- The trigger asked the clock. Copies of the database apply a deletion at different times, and must come to the same result:
-- two years are counted back from the newest entry.
DROP TRIGGER audit_log_kept;
CREATE TRIGGER audit_log_kept BEFORE DELETE ON audit_log
WHEN OLD.at > (SELECT at FROM audit_log ORDER BY id DESC LIMIT 1) - 730 * 86400000
BEGIN
  SELECT RAISE(ABORT, 'the audit log is kept for two years');
END;
