// Says how old deliveries are deleted, and with them the endpoints of deleted users.
import type { Database } from "../../../src/kernel/database/database.ts";
import { measureBy } from "../../../src/kernel/retention/deletion.ts";
import type { KeptKind } from "../../../src/kernel/retention/kept-kind.ts";
import { HOUR } from "../../../src/kernel/util/time.ts";
import { DELETE_ORPHANED_ENDPOINTS } from "../endpoints/endpoint-statements.ts";
import { minUuidV7At } from "./delivery-rows.ts";

const DELETE = `DELETE FROM webhook_deliveries WHERE id IN
  (SELECT id FROM webhook_deliveries WHERE id < ?1 ORDER BY id LIMIT ?2)`;
const MEASURE = `SELECT count(*) AS rows, count(*) * 200 AS bytes, min(created_at) AS oldest
  FROM webhook_deliveries WHERE created_at < ?1`;

export const deliveriesKind = (database: Database, keepMs: number): KeptKind => ({
  name: "webhooks",
  what: "deliveries of webhooks",
  setting: "KEEP_EVENTS",
  keepMs,
  everyMs: HOUR,
  steps: [
    async (before, limit) =>
      (await database.write([{ sql: DELETE, args: [minUuidV7At(before), limit] }]))[0]?.rowsAffected ?? 0,
    async () => {
      await database.write([DELETE_ORPHANED_ENDPOINTS]);
      return 0;
    },
  ],
  measure: measureBy(database, MEASURE),
});
