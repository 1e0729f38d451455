// Says how old events are deleted.
import type { Database } from "../database/database.ts";
import type { KeptKind } from "../retention/kept-kind.ts";
import { kindByAge } from "../retention/kind-by-age.ts";
import { HOUR } from "../util/time.ts";

// The newest event stays whatever its age, since the next number is derived from it. Numbers follow time, so the head of the table
// is all that has to be looked at.
const DELETE = `DELETE FROM events WHERE created_at < ?1 AND seq < (SELECT max(seq) FROM events)
  AND seq IN (SELECT seq FROM events ORDER BY seq LIMIT ?2)`;
const MEASURE = `SELECT count(*) AS rows, sum(octet_length(data) + 120) AS bytes, min(created_at) AS oldest
  FROM events WHERE created_at < ?1 AND seq < (SELECT max(seq) FROM events)`;

export const eventsKind = (database: Database, keepMs: number): KeptKind =>
  kindByAge(database, {
    name: "events",
    what: "events",
    setting: "KEEP_EVENTS",
    keepMs,
    everyMs: HOUR,
    deleteSql: DELETE,
    measureSql: MEASURE,
  });
