-- The unverified address of ADMIN_EMAILS under which somebody straight on this machine made an endpoint wide.
-- NULL: who made it wide is an admin from anywhere.
ALTER TABLE webhook_endpoints ADD COLUMN wide_as TEXT;
