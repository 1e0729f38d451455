// Entries of the audit log that no process has sealed: those that wait, and those that a start found. A start can't know who wrote
// them, since the database's trigger numbers what anybody inserts. So it seals them together with an entry that names their numbers.
import type { Database } from "../database/database.ts";
import { MINUTE } from "../util/time.ts";

export const SEALED_LATE = "audit.sealed-late";

/** Entries after the end of the chain. */
export interface Unsealed {
  entries: number;
  first: number;
  last: number;
  /** The time that the oldest one names (epoch ms). */
  since: number;
}

/** Entries that a start, or a command beside no service, found unsealed. */
export interface SealedLate {
  /** When they were found (epoch ms). */
  at: number;
  entries: number;
  first: number;
  last: number;
}

/** How long entries may wait where another process seals them. */
const WAITING_MS = 5 * MINUTE;
const MAX_LISTED = 50;
/** The last moment of a Date. Entries of somebody else may name any number. */
const LATEST_MS = 8_640_000_000_000_000;
const AFTER_THE_END = "s.seq > coalesce((SELECT head_seq FROM audit_chain), 0)";

/** Entries that wait to be sealed, without those of this process. */
export async function findUnsealed(
  database: Pick<Database, "read">,
  own: ReadonlySet<string> = new Set(),
): Promise<Unsealed | undefined> {
  const { rows } = await database.read(
    `SELECT count(*) AS entries, min(s.seq) AS first, max(s.seq) AS last,
        max(0, min(${LATEST_MS}, min(l.at))) AS since
      FROM audit_seals AS s LEFT JOIN audit_log AS l ON l.id = s.entry_id
      WHERE ${AFTER_THE_END} AND s.entry_id NOT IN (SELECT value FROM json_each(?))`,
    [JSON.stringify([...own])],
  );
  const [entries, first, last, since] = [rows[0]?.entries, rows[0]?.first, rows[0]?.last, rows[0]?.since].map(Number);
  return entries ? { entries, first: first ?? 0, last: last ?? 0, since: since ?? 0 } : undefined;
}

interface Sealing {
  /** Entries that this process made and may not have sealed yet. */
  own: ReadonlySet<string>;
  /** Another process may seal them, or this one does. */
  isSealedByAnother: boolean;
}

/** The report, with what waits and what was sealed late. Entries that wait for no process are not as Berth leaves them. */
export async function withUnsealed<Report extends { ok: boolean; head: { seq: number } }>(
  database: Pick<Database, "read">,
  report: Report,
  { own, isSealedByAnother }: Sealing,
  now = Date.now(),
): Promise<Report & { late: SealedLate[]; waiting?: Unsealed }> {
  const waiting = await findUnsealed(database, own);
  const late = await readSealedLate(database, report.head.seq);
  const isOverdue = waiting !== undefined && (!isSealedByAnother || waiting.since < now - WAITING_MS);
  return { ...report, ok: report.ok && !isOverdue, late, ...(waiting && { waiting }) };
}

/** The details of a forged entry may be any text. */
async function readSealedLate(database: Pick<Database, "read">, head: number): Promise<SealedLate[]> {
  const { rows } = await database.read(
    `SELECT max(0, min(${LATEST_MS}, l.at)) AS at, l.details ->> '$.entries' AS entries, l.details ->> '$.first' AS first,
        l.details ->> '$.last' AS last
      FROM audit_log AS l JOIN audit_seals AS s ON s.entry_id = l.id
      WHERE l.action = ? AND s.seq <= ? AND json_valid(l.details) ORDER BY l.id DESC LIMIT ${MAX_LISTED}`,
    [SEALED_LATE, head],
  );
  return rows.toReversed().map(({ at, entries, first, last }) => ({
    at: Number(at),
    entries: Number(entries),
    first: Number(first),
    last: Number(last),
  }));
}
