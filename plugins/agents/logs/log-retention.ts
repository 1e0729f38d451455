// Says how old lines of agents' logs are deleted.
import type { Database } from "../../../src/kernel/database/database.ts";
import { measureBy } from "../../../src/kernel/retention/deletion.ts";
import type { KeptKind } from "../../../src/kernel/retention/kept-kind.ts";
import { firstIdAt, HOUR } from "../../../src/kernel/util/time.ts";

const DELETE = "DELETE FROM agent_logs WHERE id IN (SELECT id FROM agent_logs WHERE id < ?1 ORDER BY id LIMIT ?2)";
const MEASURE = `SELECT count(*) AS rows, min(at) AS oldest,
  sum(100 + octet_length(message) + coalesce(octet_length(links), 0)) AS bytes FROM agent_logs WHERE id < ?1`;

export const logsKind = (database: Database, keepMs: number): KeptKind => {
  const measure = measureBy(database, MEASURE);
  return {
    name: "logs",
    what: "lines of agents' logs",
    setting: "KEEP_LOGS",
    keepMs,
    everyMs: HOUR,
    steps: [
      async (before, limit) =>
        (await database.write([{ sql: DELETE, args: [firstIdAt(before), limit] }]))[0]?.rowsAffected ?? 0,
    ],
    measure: (before) => measure(firstIdAt(before)),
  };
};
