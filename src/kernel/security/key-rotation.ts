// Rotates the root key: seals every stored secret of the plugins again under the current key, so that the previous key
// can be removed.
import type { Row } from "@libsql/client";
import type { Database } from "../database/database.ts";
import type { Log } from "../telemetry/log.ts";
import type { Vault } from "./vault.ts";

/** A column of sealed texts. The names of table and columns go into SQL as they are. */
export interface SealedColumn {
  /** The name in the command's output. */
  label: string;
  table: string;
  /** The columns that identify a row. */
  keyColumns: readonly string[];
  sealed: string;
  /** A column with the id of the root key that the text is sealed under, if the table has one. */
  keyId?: string;
  /** Returns the context that a row's text is sealed with. */
  sealContext(row: Row): string;
}

/** The number of texts that were sealed again, and of those that can't be opened and stay unchanged. */
export interface KeyRotationResult {
  resealed: number;
  unreadable: number;
}

export interface KeyRotation {
  /** Adds a column to the rotation. */
  registerColumn(column: SealedColumn): void;
  /** Adds secrets that are not a column; `reseal` seals those again that are not under the current key. */
  register(label: string, reseal: () => Promise<KeyRotationResult>): void;
  /** Seals all secrets under the current key. May run while the service runs, and repeatedly. */
  run(): Promise<Record<string, KeyRotationResult>>;
}

const BATCH = 200;

export function createKeyRotation({
  database,
  vault,
  log,
}: {
  database: Database;
  vault: Vault;
  log: Log;
}): KeyRotation {
  const registrations: { label: string; run(): Promise<KeyRotationResult> }[] = [];

  async function reseal({
    label,
    table,
    keyColumns,
    sealed,
    keyId,
    sealContext,
  }: SealedColumn): Promise<KeyRotationResult> {
    const sql = `SELECT ${[...keyColumns, `${sealed} AS sealed`].join(", ")} FROM ${table}
      WHERE ${sealed} IS NOT NULL AND substr(${sealed}, 1, ?) <> ? ORDER BY ${keyColumns.join(", ")} LIMIT ${BATCH} OFFSET ?`;
    const currentPrefix = `v1.${vault.keyId}.`;
    // Only if the text is still the one that was read: a newer one is under the current key already.
    const sets = [`${sealed} = ?`, ...(keyId === undefined ? [] : [`${keyId} = ?`])].join(", ");
    const where = [...keyColumns.map((name) => `${name} = ?`), `${sealed} = ?`].join(" AND ");
    const update = `UPDATE ${table} SET ${sets} WHERE ${where}`;

    function resealStatement(row: Row) {
      const oldValue = String(row.sealed);
      const context = sealContext(row);
      const newValue = vault.seal(vault.open(oldValue, context), context);
      const values = keyColumns.map((name) => row[name] ?? null);
      return { sql: update, args: [newValue, ...(keyId === undefined ? [] : [vault.keyId]), ...values, oldValue] };
    }

    const result = { resealed: 0, unreadable: 0 };
    for (;;) {
      const { rows } = await database.read(sql, [currentPrefix.length, currentPrefix, result.unreadable]);
      if (rows.length === 0) return result;
      const updates = rows.flatMap((row) => {
        try {
          return [resealStatement(row)];
        } catch (error) {
          result.unreadable++;
          log.warn("a sealed text can't be opened and stays unchanged", {
            label,
            row: keyColumns.map((name) => row[name]),
            error,
          });
          return [];
        }
      });
      if (updates.length > 0) await database.write(updates);
      result.resealed += updates.length;
    }
  }

  return {
    registerColumn: (column) => void registrations.push({ label: column.label, run: () => reseal(column) }),
    register: (label, run) => void registrations.push({ label, run }),
    async run() {
      const all: Record<string, KeyRotationResult> = {};
      for (const { label, run } of registrations) {
        const { resealed, unreadable } = await run();
        const { resealed: resealedBefore, unreadable: unreadableBefore } = all[label] ?? { resealed: 0, unreadable: 0 };
        all[label] = { resealed: resealedBefore + resealed, unreadable: unreadableBefore + unreadable };
      }
      return all;
    },
  };
}
