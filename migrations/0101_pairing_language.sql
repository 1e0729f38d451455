-- The language of the person's app, as the platform has named it with the request: the welcome is in it, too.
ALTER TABLE pairings ADD COLUMN language TEXT;
