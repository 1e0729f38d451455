-- Admins by a group of their provider: the groups of the operator's list that the provider named at the last sign-in, as a
-- JSON array; NULL if it named none. They end with the link to the provider.
ALTER TABLE linked_accounts ADD COLUMN admin_groups TEXT;
CREATE INDEX linked_accounts_admins ON linked_accounts (user_id) WHERE admin_groups IS NOT NULL;

-- Whether a linked account has such groups. Set by the triggers below alone.
ALTER TABLE users ADD COLUMN admin_by_group INTEGER NOT NULL DEFAULT 0;

CREATE TRIGGER linked_accounts_groups_changed AFTER UPDATE OF admin_groups ON linked_accounts
BEGIN
  UPDATE users SET admin_by_group = EXISTS (
    SELECT 1 FROM linked_accounts WHERE user_id = NEW.user_id AND admin_groups IS NOT NULL) WHERE id = NEW.user_id;
END;
CREATE TRIGGER linked_accounts_groups_removed AFTER DELETE ON linked_accounts WHEN OLD.admin_groups IS NOT NULL
BEGIN
  UPDATE users SET admin_by_group = EXISTS (
    SELECT 1 FROM linked_accounts WHERE user_id = OLD.user_id AND admin_groups IS NOT NULL) WHERE id = OLD.user_id;
END;
