// Says how old deliveries are deleted, and with them the endpoints of deleted users.
import type { Database } from "../../../src/kernel/database/database.ts";
import type { KeptKind } from "../../../src/kernel/retention/kept-kind.ts";
import { kindByAge } from "../../../src/kernel/retention/kind-by-age.ts";
import { firstIdAt, HOUR } from "../../../src/kernel/util/time.ts";
import { DELETE_ORPHANED_ENDPOINTS } from "../endpoints/endpoint-statements.ts";

const DELETE = `DELETE FROM webhook_deliveries WHERE id IN
  (SELECT id FROM webhook_deliveries WHERE id < ?1 ORDER BY id LIMIT ?2)`;
const MEASURE = `SELECT count(*) AS rows, count(*) * 200 AS bytes, min(created_at) AS oldest
  FROM webhook_deliveries WHERE id < ?1`;

export const deliveriesKind = (database: Database, keepMs: number): KeptKind =>
  kindByAge(database, {
    name: "webhooks",
    what: "deliveries of webhooks",
    setting: "KEEP_EVENTS",
    keepMs,
    everyMs: HOUR,
    deleteSql: DELETE,
    measureSql: MEASURE,
    markOf: firstIdAt,
    afterwards: [
      async () => {
        await database.write([DELETE_ORPHANED_ENDPOINTS]);
        return 0;
      },
    ],
  });
