// Says how old entries of the audit log are deleted. Their time is fixed, and a trigger of the table watches over it.
import type { Database } from "../database/database.ts";
import { measureBy } from "../retention/deletion.ts";
import type { KeptKind } from "../retention/kept-kind.ts";
import { AUDIT_KEPT_MS, type Audit } from "./audit.ts";

const MEASURE = `SELECT count(*) AS rows, sum(300 + octet_length(details)) AS bytes, min(at) AS oldest FROM audit_log WHERE at < ?1`;

export const auditKind = (database: Database, audit: Audit): KeptKind => ({
  name: "audit",
  what: "entries of the audit log",
  keepMs: AUDIT_KEPT_MS,
  steps: [audit.deleteBatch],
  measure: measureBy(database, MEASURE),
});
