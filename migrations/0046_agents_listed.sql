-- Lists of an account's agents are searched, filtered and sorted in the index alone.
CREATE INDEX agents_listed ON agents (user_id, id, name, status);
DROP INDEX agents_by_owner;
