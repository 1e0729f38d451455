// Says how old requests for approval are deleted.
import type { Database } from "../../src/kernel/database/database.ts";
import type { KeptKind } from "../../src/kernel/retention/kept-kind.ts";
import { kindByAge } from "../../src/kernel/retention/kind-by-age.ts";

const DELETE = `DELETE FROM approvals WHERE id IN
  (SELECT id FROM approvals WHERE requested_at < ?1 ORDER BY requested_at LIMIT ?2)`;
const MEASURE = `SELECT count(*) AS rows, sum(200 + octet_length(input)) AS bytes, min(requested_at) AS oldest
  FROM approvals WHERE requested_at < ?1`;

export const approvalsKind = (database: Database, keepMs: number): KeptKind =>
  kindByAge(database, {
    name: "approvals",
    what: "requests for approval",
    setting: "KEEP_TURNS",
    keepMs,
    deleteSql: DELETE,
    measureSql: MEASURE,
  });
