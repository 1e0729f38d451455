// Says how old lines of agents' logs are deleted.
import type { Database } from "../../../src/kernel/database/database.ts";
import type { KeptKind } from "../../../src/kernel/retention/kept-kind.ts";
import { kindByAge } from "../../../src/kernel/retention/kind-by-age.ts";
import { firstIdAt, HOUR } from "../../../src/kernel/util/time.ts";

const DELETE = "DELETE FROM agent_logs WHERE id IN (SELECT id FROM agent_logs WHERE id < ?1 ORDER BY id LIMIT ?2)";
const MEASURE = `SELECT count(*) AS rows, min(at) AS oldest,
  sum(100 + octet_length(message) + coalesce(octet_length(links), 0)) AS bytes FROM agent_logs WHERE id < ?1`;

export const logsKind = (database: Database, keepMs: number): KeptKind =>
  kindByAge(database, {
    name: "logs",
    what: "lines of agents' logs",
    setting: "KEEP_LOGS",
    keepMs,
    everyMs: HOUR,
    deleteSql: DELETE,
    measureSql: MEASURE,
    markOf: firstIdAt,
  });
