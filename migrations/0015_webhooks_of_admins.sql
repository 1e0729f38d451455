-- The unverified address of ADMIN_EMAILS that made the endpoint's creator an admin, by a request from this machine itself.
-- NULL: the creator of a wide endpoint was an admin by other means.
ALTER TABLE webhook_endpoints ADD COLUMN wide_as TEXT;
