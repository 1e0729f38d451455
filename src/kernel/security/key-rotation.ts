// Key rotation: every sealed text that plugins keep, sealed anew under the present root key, so that the previous one can go.
import type { Row } from "@libsql/client";
import type { Database } from "../database/database.ts";
import type { Log } from "../telemetry/log.ts";
import type { Vault } from "./vault.ts";

/** A column of sealed texts. The names of table and columns go into SQL as they are. */
export interface SealedColumn {
  /** How the operator is told of them. */
  label: string;
  table: string;
  /** The columns that name a row. */
  keyColumns: readonly string[];
  sealed: string;
  /** The column beside it that says which root key it is sealed under, where there is one. */
  keyId?: string;
  /** The context that a row's text was sealed with. */
  sealContext(row: Row): string;
}

/** What came of one kind: sealed anew, and left as they were since they don't open. */
export interface KeyRotationResult {
  resealed: number;
  unreadable: number;
}

export interface KeyRotation {
  /** From now on this column is part of a rotation. */
  registerColumn(column: SealedColumn): void;
  /** Likewise what is no column of its own: it is asked to seal anew what is not under the present key. */
  register(label: string, reseal: () => Promise<KeyRotationResult>): void;
  /** Seals anew all that is not under the present key. Beside a running service, and as often as one likes. */
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
    // Only where it is still what was read: what is written meanwhile is under the present key already.
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
          log.warn("A sealed text does not open, and stays as it is.", {
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
