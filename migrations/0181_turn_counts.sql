-- The turns of agents in hours whose sums are deleted. With those of the hours that are left, they are all that the agent ever had.

CREATE TABLE turn_counts (
  agent_id TEXT PRIMARY KEY REFERENCES agents (id) ON DELETE CASCADE,
  turns INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

INSERT INTO turn_counts
SELECT agent_id, turns - coalesce((SELECT sum(turns_ok + turns_failed) FROM agent_hours
  WHERE agent_hours.agent_id = entries.agent_id), 0) AS earlier
FROM (SELECT agent_id, count(*) AS turns FROM inbox
  WHERE kind <> 'command' AND status IN ('done', 'failed', 'parked') AND error IS NOT 'AGENT_STOPPED' GROUP BY agent_id) AS entries
WHERE earlier > 0;
