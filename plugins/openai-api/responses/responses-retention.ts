// Says how stored responses are deleted: a while after they were made or continued for the last time.
import type { Database } from "../../../src/kernel/database/database.ts";
import type { KeptKind } from "../../../src/kernel/retention/kept-kind.ts";
import { kindByAge } from "../../../src/kernel/retention/kind-by-age.ts";
import { DAY } from "../../../src/kernel/util/time.ts";

/** Milliseconds that a response of an account is kept after it was made or continued for the last time. */
export const KEPT_MS = 30 * DAY;
const EXPIRED = `expires_at <= ?1 + ${KEPT_MS}`;
const DELETE = `DELETE FROM api_responses WHERE rowid IN (SELECT rowid FROM api_responses WHERE ${EXPIRED} ORDER BY expires_at LIMIT ?2)`;
const MEASURE = `SELECT count(*) AS rows, sum(bytes) AS bytes, min(expires_at) - ${KEPT_MS} AS oldest FROM api_responses WHERE ${EXPIRED}`;

export const responsesKind = (database: Database): KeptKind =>
  kindByAge(database, {
    name: "responses",
    what: "stored responses of /v1/responses, since they were last continued",
    keepMs: KEPT_MS,
    deleteSql: DELETE,
    measureSql: MEASURE,
  });
