// Says how the steps of old turns are deleted. Turns that may still go on keep theirs.
import type { Database } from "../../../src/kernel/database/database.ts";
import type { KeptKind } from "../../../src/kernel/retention/kept-kind.ts";
import { kindByAge } from "../../../src/kernel/retention/kind-by-age.ts";
import { firstIdAt } from "../../../src/kernel/util/time.ts";

/** ?1: the first id of a turn that is kept, ?2: the most rows. Ids begin with their time, so the index has the oldest turns first. */
export const DELETE_STEPS = `DELETE FROM turn_steps WHERE (agent_id, turn_id, seq) IN (
  SELECT agent_id, turn_id, seq FROM turn_steps AS old WHERE turn_id < ?1 AND NOT EXISTS (
    SELECT 1 FROM inbox WHERE agent_id = old.agent_id AND id = old.turn_id AND status IN ('pending', 'parked'))
  ORDER BY turn_id LIMIT ?2)`;
const MEASURE = `SELECT count(*) AS rows, min(started_at) AS oldest,
  sum(100 + coalesce(octet_length(input), 0) + coalesce(octet_length(output), 0) + coalesce(octet_length(sub_steps), 0)) AS bytes
  FROM turn_steps WHERE turn_id < ?1`;

export const turnsKind = (database: Database, keepMs: number): KeptKind =>
  kindByAge(database, {
    name: "turns",
    what: "steps of turns",
    setting: "KEEP_TURNS",
    keepMs,
    deleteSql: DELETE_STEPS,
    measureSql: MEASURE,
    markOf: firstIdAt,
  });
