// Checks the chain of the audit log, entry by entry, and says where it breaks.
import type { Database } from "../database/database.ts";
import { count } from "../util/text/count.ts";
import { type ChainKey, type Head, hashOf, NUMBERED_ENTRIES, readState, signatureOf } from "./chain.ts";
import type { SealedLate, Unsealed } from "./unsealed.ts";

export type { Head } from "./chain.ts";

/** A place where the log is not as it was written. */
export interface ChainBreak {
  /** The number of the entry. */
  seq: number;
  problem: string;
}

export interface ChainReport {
  ok: boolean;
  /** How many entries were checked. */
  entries: number;
  /** When the chain began (epoch ms); 0 if there is none. Older entries were sealed then, as they were. */
  begunAt: number;
  /** How many entries were pruned before the first one. */
  pruned: number;
  /** The last entry. Whoever notes it elsewhere can later prove that nothing was cut off: see `verify(noted)`. */
  head: Head;
  /** The first breaks; more are not listed. */
  breaks: ChainBreak[];
  /** Entries that a start found unsealed, so that somebody else may have written them; oldest first. */
  late: SealedLate[];
  /** Entries that wait to be sealed, which were not checked. */
  waiting?: Unsealed;
}

/** What the chain itself shows. */
type Checked = Omit<ChainReport, "late" | "waiting">;

const CHUNK = 500;
const MAX_BREAKS = 50;

export async function verifyChain(
  database: Pick<Database, "read">,
  key: ChainKey | undefined,
  noted: Head | undefined,
): Promise<Checked> {
  const breaks: ChainBreak[] = [];
  const report = (seq: number, problem: string) => {
    if (breaks.length < MAX_BREAKS) breaks.push({ seq, problem });
  };
  const state = await readState(database);
  if (!state || key === undefined) {
    const { rows } = await database.read("SELECT count(*) AS entries FROM audit_log");
    const entries = Number(rows[0]?.entries);
    const { last, sealed } = await readNumbers(database);
    if (noted) report(noted.seq, "the chain is gone, which had this entry");
    else if (sealed > 0) report(sealed, "the chain is gone, with which entries up to this one were sealed");
    await reportEmptied(database, last, report);
    return { ok: breaks.length === 0, entries, begunAt: 0, pruned: 0, head: { seq: 0, mac: "" }, breaks };
  }
  const { anchor, head, begunAt } = state;
  if (state.row.signature !== signatureOf(key, state))
    report(head.seq, "the noted ends of the chain were changed by hand");
  if (noted && noted.seq < anchor.seq) report(noted.seq, "the entry noted elsewhere was pruned: note a newer one");

  let last: Head = anchor;
  let entries = 0;
  let isNotedFound = noted === undefined || noted.seq <= anchor.seq;
  for (;;) {
    // What has come since the last sealing, such as right now, is not sealed yet.
    const { rows } = await database.read(`${NUMBERED_ENTRIES} AND s.seq <= ?2 ORDER BY s.seq LIMIT ${CHUNK}`, [
      last.seq,
      head.seq,
    ]);
    for (const row of rows) {
      const seq = Number(row.seq);
      if (seq > last.seq + 1)
        report(last.seq + 1, seq === last.seq + 2 ? "this entry is missing" : `entries up to ${seq - 1} are missing`);
      entries++;
      const stored = row.mac === null ? "" : String(row.mac);
      if (row.id === null) report(seq, `the entry ${row.entry_id} was deleted`);
      else if (stored === "") report(seq, "the hash of this entry was removed");
      // After a gap, the hash before it is unknown.
      else if (seq === last.seq + 1 && stored !== hashOf(key, last.mac, row))
        report(seq, "this entry was changed, or did not stand here");
      if (noted?.seq === seq) {
        isNotedFound = true;
        if (noted.mac !== stored) report(seq, "this entry has another hash than the one noted elsewhere");
      }
      if (seq === head.seq && stored !== head.mac) report(seq, "this entry is not the end that the chain had");
      last = { seq, mac: stored };
    }
    if (rows.length < CHUNK) break;
  }
  if (last.seq < head.seq) report(last.seq + 1, `the end was cut off: the chain had entries up to ${head.seq}`);
  if (noted && !isNotedFound) report(noted.seq, "the entry noted elsewhere is missing");
  await reportEmptied(database, Math.max(head.seq, (await readNumbers(database)).last), report);
  const { rows } = await database.read(
    "SELECT count(*) AS loose FROM audit_log WHERE id NOT IN (SELECT entry_id FROM audit_seals)",
  );
  const loose = Number(rows[0]?.loose);
  if (loose > 0)
    report(
      last.seq,
      `${count(loose, "entry has no number: it was", "entries have no number: they were")} added by hand`,
    );
  return { ok: breaks.length === 0, entries, begunAt, pruned: anchor.seq, head, breaks };
}

/** The largest number of an entry, and of one that is sealed; 0 if there is none. */
async function readNumbers(database: Pick<Database, "read">): Promise<{ last: number; sealed: number }> {
  const [row] = (
    await database.read(
      "SELECT coalesce(max(seq), 0) AS last, coalesce(max(iif(mac IS NULL, 0, seq)), 0) AS sealed FROM audit_seals",
    )
  ).rows;
  return { last: Number(row?.last), sealed: Number(row?.sealed) };
}

/** SQLite remembers the largest number that an entry has ever had. A batch that fails takes none, so it is that of the last entry. */
async function reportEmptied(
  database: Pick<Database, "read">,
  last: number,
  report: (seq: number, problem: string) => void,
): Promise<void> {
  const [row] = (await database.read("SELECT seq FROM sqlite_sequence WHERE name = 'audit_seals'")).rows;
  const given = Number(row?.seq ?? 0);
  if (given > last) report(last + 1, `entries up to ${given} were written, and are gone from here on`);
}
