// Knows which cell has each name that must be unique in the whole service. Its table is in cell 0, whose unique index decides.
//
// A cell reserves a name, uses it in a write of its own, and confirms it. The three steps are kill-safe, because the cell that holds
// a row is asked before the row is given away: a cell that uses the name, or is about to, keeps it; one that was killed in
// between knows nothing of it. So names need not be released either: what a cell no longer uses goes to the next that asks.
import type { Name } from "../../kernel/cells/cells.ts";
import type { Database } from "../../kernel/database/database.ts";
import type { Log } from "../../kernel/telemetry/log.ts";
import { MINUTE } from "../../kernel/util/time.ts";

/** How long a reservation lasts whose cell does not confirm it. */
export const RESERVED_MS = 10 * MINUTE;
/** Reservations that one sweep looks at. */
const SWEPT = 200;
/** More often than that a name can't change hands between two statements of one reservation. */
const ATTEMPTS = 5;

const FIND = "SELECT cell, until, version FROM places WHERE kind = ?1 AND name = ?2";
// A version begins with the time, so that a row which was deleted and made anew has another one.
const RESERVE = `INSERT INTO places (kind, name, cell, until, version) VALUES (?1, ?2, ?3, ?4, ?4)
  ON CONFLICT (kind, name) DO UPDATE SET until = excluded.until, version = max(version + 1, excluded.version)
  WHERE cell = excluded.cell RETURNING version`;
const GIVE = `UPDATE places SET cell = ?3, until = ?4, version = version + 1
  WHERE kind = ?1 AND name = ?2 AND version = ?5`;
const CONFIRM = "UPDATE places SET until = NULL WHERE kind = ?1 AND name = ?2 AND cell = ?3 AND until IS NOT NULL";
const CONFIRM_VERSION = "UPDATE places SET until = NULL WHERE kind = ?1 AND name = ?2 AND version = ?3";
const FORGET = "DELETE FROM places WHERE kind = ?1 AND name = ?2 AND version = ?3";
const EXPIRED = `SELECT kind, name, cell, version FROM places WHERE until IS NOT NULL AND until <= ?1
  ORDER BY until LIMIT ?2`;

export interface DirectoryDeps {
  database: Pick<Database, "read" | "write">;
  /** Whether a cell uses a name or is about to. Rejects if it can't be asked now. */
  knows(cell: number, name: Name): Promise<boolean>;
  /** Whether cell 0 uses a name: those from before there were cells have no row. */
  usedInFirst(name: Name): Promise<boolean>;
  log: Pick<Log, "warn">;
  /** Epoch ms. */
  now?: () => number;
}

export type Directory = ReturnType<typeof createDirectory>;

export function createDirectory({ database, knows, usedInFirst, log, now = Date.now }: DirectoryDeps) {
  interface Place {
    cell: number;
    until: number | null;
    version: number;
  }

  async function placeOf({ kind, name }: Name): Promise<Place | undefined> {
    const [row] = (await database.read(FIND, [kind, name])).rows;
    const until = row?.until === null ? null : Number(row?.until);
    return row && { cell: Number(row.cell), until, version: Number(row.version) };
  }

  /** The version of the reservation; undefined if another cell has the name. */
  async function tryReserve(cell: number, { kind, name }: Name, until: number): Promise<number | undefined> {
    const [result] = await database.write([{ sql: RESERVE, args: [kind, name, cell, until] }]);
    const version = result?.rows[0]?.version;
    return version === undefined ? undefined : Number(version);
  }

  const give = ({ kind, name }: Name, version: number, to: number, until: number | null) =>
    database.write([{ sql: GIVE, args: [kind, name, to, until, version] }]);

  /** A cell that can't be asked keeps its names. */
  const keeps = (cell: number, name: Name) =>
    knows(cell, name).catch((error: unknown) => {
      log.warn("a cell could not be asked for a name", { cell, kind: name.kind, error });
      return true;
    });

  /** The cell that has the name instead; undefined if it is reserved for this one. */
  async function reserveOne(cell: number, name: Name): Promise<number | undefined> {
    for (let attempt = 1; ; attempt++) {
      const until = now() + RESERVED_MS;
      const version = await tryReserve(cell, name, until);
      if (version !== undefined) {
        // Looked at after the row is there: whatever cell 0 begins to use from now on meets the row.
        if (cell === 0 || !(await usedInFirst(name))) return undefined;
        await give(name, version, 0, null);
        return 0;
      }
      const held = await placeOf(name);
      if (!held) continue;
      const isReserved = held.until !== null && held.until > now();
      if (isReserved || attempt >= ATTEMPTS || (await keeps(held.cell, name))) return held.cell;
      await give(name, held.version, cell, until);
    }
  }

  return {
    /** The cell that has the name or has reserved it. */
    async find(name: Name): Promise<number | undefined> {
      const place = await placeOf(name);
      if (place) return place.cell;
      return (await usedInFirst(name)) ? 0 : undefined;
    },

    /** Reserves all of them for ten minutes; else resolves with the one that another cell has. */
    async reserve(cell: number, names: readonly Name[]): Promise<{ taken: Name; cell: number } | undefined> {
      for (const name of names) {
        const holder = await reserveOne(cell, name);
        if (holder !== undefined) return { taken: name, cell: holder };
      }
      return undefined;
    },

    /** The cell has used them. */
    async confirm(cell: number, names: readonly Name[]): Promise<void> {
      await database.write(names.map(({ kind, name }) => ({ sql: CONFIRM, args: [kind, name, cell] })));
    },

    /** Confirms or ends reservations whose time is over, as their cells say. */
    async sweep(): Promise<void> {
      const { rows } = await database.read(EXPIRED, [now(), SWEPT]);
      for (const row of rows) {
        const name = { kind: String(row.kind), name: String(row.name) };
        const isKnown = await knows(Number(row.cell), name).catch(() => undefined);
        if (isKnown === undefined) continue;
        const sql = isKnown ? CONFIRM_VERSION : FORGET;
        await database.write([{ sql, args: [name.kind, name.name, Number(row.version)] }]);
      }
    },
  };
}
