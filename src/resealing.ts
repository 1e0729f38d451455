// Key rotation: every sealed text that plugins keep, sealed anew under the present root key, so that the previous one can go.
import type { Row } from "@libsql/client";
import type { Database } from "./database.ts";
import type { Log } from "./log.ts";
import type { Vault } from "./vault.ts";

/** A column of sealed texts. The names of table and columns go into SQL as they are. */
export interface SealedColumn {
  /** How the operator is told of them. */
  what: string;
  table: string;
  /** The columns that name a row. */
  names: readonly string[];
  sealed: string;
  /** The column beside it that says which root key it is sealed under, where there is one. */
  keyId?: string;
  /** The context that a row's text was sealed with. */
  placeOf(row: Row): string;
}

/** What came of one kind: sealed anew, and left as they were since they don't open. */
export interface Resealed {
  resealed: number;
  unreadable: number;
}

export interface Resealing {
  /** From now on this column is part of a rotation. */
  offer(column: SealedColumn): void;
  /** Likewise what is no column of its own: it is asked to seal anew what is not under the present key. */
  offerOther(what: string, reseal: () => Promise<Resealed>): void;
  /** Seals anew all that is not under the present key. Beside a running service, and as often as one likes. */
  run(): Promise<Record<string, Resealed>>;
}

const BATCH = 200;

export function createResealing({ database, vault, log }: { database: Database; vault: Vault; log: Log }): Resealing {
  const offers: { what: string; run(): Promise<Resealed> }[] = [];

  async function reseal({ what, table, names, sealed, keyId, placeOf }: SealedColumn): Promise<Resealed> {
    const sql = `SELECT ${[...names, `${sealed} AS sealed`].join(", ")} FROM ${table}
      WHERE ${sealed} IS NOT NULL AND substr(${sealed}, 1, ?) <> ? ORDER BY ${names.join(", ")} LIMIT ${BATCH} OFFSET ?`;
    const present = `v1.${vault.keyId}.`;
    // Only where it is still what was read: what is written meanwhile is under the present key already.
    const sets = [`${sealed} = ?`, ...(keyId === undefined ? [] : [`${keyId} = ?`])].join(", ");
    const where = [...names.map((name) => `${name} = ?`), `${sealed} = ?`].join(" AND ");
    const update = `UPDATE ${table} SET ${sets} WHERE ${where}`;

    function anew(row: Row) {
      const was = String(row.sealed);
      const place = placeOf(row);
      const now = vault.seal(vault.open(was, place), place);
      const values = names.map((name) => row[name] ?? null);
      return { sql: update, args: [now, ...(keyId === undefined ? [] : [vault.keyId]), ...values, was] };
    }

    const done = { resealed: 0, unreadable: 0 };
    for (;;) {
      const { rows } = await database.read(sql, [present.length, present, done.unreadable]);
      if (rows.length === 0) return done;
      const updates = rows.flatMap((row) => {
        try {
          return [anew(row)];
        } catch (error) {
          done.unreadable++;
          log.warn("A sealed text does not open, and stays as it is.", {
            what,
            row: names.map((name) => row[name]),
            error,
          });
          return [];
        }
      });
      if (updates.length > 0) await database.write(updates);
      done.resealed += updates.length;
    }
  }

  return {
    offer: (column) => void offers.push({ what: column.what, run: () => reseal(column) }),
    offerOther: (what, run) => void offers.push({ what, run }),
    async run() {
      const all: Record<string, Resealed> = {};
      for (const { what, run } of offers) {
        const { resealed, unreadable } = await run();
        const { resealed: before, unreadable: failed } = all[what] ?? { resealed: 0, unreadable: 0 };
        all[what] = { resealed: before + resealed, unreadable: failed + unreadable };
      }
      return all;
    },
  };
}
