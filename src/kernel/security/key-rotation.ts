// Rotates the root key: seals every stored secret of the plugins again under the current key, so that the previous key
// can be removed.

import type { InValue, Row } from "@libsql/client";
import { programName } from "../config/program-name.ts";
import type { Database, Statement } from "../database/database.ts";
import { StartError } from "../errors.ts";
import type { Log } from "../telemetry/log.ts";
import type { Vault } from "./vault.ts";

/** A column of sealed texts. The names of table and columns, and the conditions, go into SQL as they are. */
export interface SealedColumn {
  /** The name in the command's output. */
  label: string;
  table: string;
  /** The columns that identify a row. */
  keyColumns: readonly string[];
  sealed: string;
  /** The path of the sealed text in a column of JSON (SQLite's `$.name`). */
  jsonPath?: string;
  /** A condition on the rows that have a sealed text. */
  where?: string;
  /** A column with the id of the root key that the text is sealed under, if the table has one. */
  keyId?: string;
  /** Returns the context that a row's text is sealed with. `row` has the key columns, and the column of JSON. */
  sealContext(row: Row): string;
}

/** Secrets that are not a column. */
export interface SealedValues {
  /** Seals those again that are not under the current key. */
  reseal(): Promise<KeyRotationResult>;
  /** A query for any row in which the text `?1` occurs. */
  findText: string;
}

/** The number of texts that were sealed again, and of those that can't be opened and stay unchanged. */
export interface KeyRotationResult {
  resealed: number;
  unreadable: number;
}

export interface KeyRotation {
  /** Adds a column to the rotation. */
  registerColumn(column: SealedColumn): void;
  register(label: string, values: SealedValues): void;
  /**
   * Seals all secrets under the current key. May run while the service runs, and repeatedly: after a kill, the next run
   * continues. Secrets under a key that is not given can't be opened: they stay as they are, and `requireKeys` no longer
   * asks for that key.
   */
  run(): Promise<Record<string, KeyRotationResult>>;
  /**
   * Throws StartError if secrets are sealed under an earlier key that is not given. The database notes which keys may be in
   * use, so that secrets are only looked at if one of these is missing. Call it when every plugin has registered.
   */
  requireKeys(): Promise<void>;
}

/** The database's notes of earlier keys that secrets may be sealed under; the key's id follows. */
const NOTE = "sealed_under:";

/** Notes that secrets may be sealed under this key. */
export const noteKeyStatement = (keyId: string): Statement => ({
  sql: "INSERT INTO meta (key, value) VALUES (?, '') ON CONFLICT (key) DO NOTHING",
  args: [`${NOTE}${keyId}`],
});

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
  const registrations: { label: string; run(): Promise<KeyRotationResult>; uses(keyId: string): Promise<boolean> }[] =
    [];
  const prefixOf = (keyId: string) => `v1.${keyId}.`;

  async function reseal(column: SealedColumn): Promise<KeyRotationResult> {
    const { label, table, keyColumns, sealed, jsonPath, keyId, sealContext } = column;
    const text = textOf(column);
    const columns = [...keyColumns, ...(jsonPath === undefined ? [] : [sealed]), `${text} AS sealed_text`];
    const sql = `SELECT ${columns.join(", ")} FROM ${table} WHERE ${rowsOf(column)} AND substr(${text}, 1, ?) <> ?
      ORDER BY ${keyColumns.join(", ")} LIMIT ${BATCH} OFFSET ?`;
    const currentPrefix = prefixOf(vault.keyId);
    const newText = jsonPath === undefined ? "?" : `json_set(${sealed}, '${jsonPath}', ?)`;
    // Only if the text is still the one that was read: a newer one is under the current key already.
    const sets = [`${sealed} = ${newText}`, ...(keyId === undefined ? [] : [`${keyId} = ?`])].join(", ");
    const where = [...keyColumns.map((name) => `${name} = ?`), `${text} = ?`].join(" AND ");
    const update = `UPDATE ${table} SET ${sets} WHERE ${where}`;

    function resealStatement(row: Row) {
      const oldValue = String(row.sealed_text);
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
    registerColumn(column) {
      const text = textOf(column);
      const sql = `SELECT 1 FROM ${column.table} WHERE ${rowsOf(column)} AND substr(${text}, 1, ?1) = ?2 LIMIT 1`;
      registrations.push({
        label: column.label,
        run: () => reseal(column),
        uses: (keyId) => hasRows(sql, [prefixOf(keyId).length, prefixOf(keyId)]),
      });
    },
    register(label, { reseal: run, findText }) {
      registrations.push({ label, run, uses: (keyId) => hasRows(findText, [prefixOf(keyId)]) });
    },
    async run() {
      const before = await notedKeys();
      const all: Record<string, KeyRotationResult> = {};
      for (const { label, run } of registrations) {
        const { resealed, unreadable } = await run();
        const { resealed: resealedBefore, unreadable: unreadableBefore } = all[label] ?? { resealed: 0, unreadable: 0 };
        all[label] = { resealed: resealedBefore + resealed, unreadable: unreadableBefore + unreadable };
      }
      // What is left under these keys is given up. The previous key stays noted, since a rollback to a backup may bring back
      // texts under it: the first start without it looks once.
      const givenUp = before.filter((id) => id !== vault.previousKeyId);
      if (givenUp.length > 0) await database.write(givenUp.map(forgetKeyStatement));
      return all;
    },

    async requireKeys() {
      const missing = (await notedKeys()).filter((id) => id !== vault.keyId && id !== vault.previousKeyId);
      for (const keyId of missing) {
        for (const { label, uses } of registrations) if (await uses(keyId)) throw keyMissing(label);
        await database.write([forgetKeyStatement(keyId)]);
      }
    },
  };

  async function hasRows(sql: string, args: InValue[]): Promise<boolean> {
    return (await database.read(sql, args)).rows.length > 0;
  }

  async function notedKeys(): Promise<string[]> {
    const { rows } = await database.read("SELECT key FROM meta WHERE key LIKE ?", [`${NOTE}%`]);
    return rows.map(({ key }) => String(key).slice(NOTE.length));
  }
}

const forgetKeyStatement = (keyId: string): Statement => ({
  sql: "DELETE FROM meta WHERE key = ?",
  args: [`${NOTE}${keyId}`],
});

const textOf = ({ sealed, jsonPath }: SealedColumn) =>
  jsonPath === undefined ? sealed : `(${sealed} ->> '${jsonPath}')`;

const rowsOf = (column: SealedColumn) => [`${textOf(column)} IS NOT NULL`, column.where ?? []].flat().join(" AND ");

const keyMissing = (label: string) =>
  new StartError(
    `Some secrets (${label}) are still sealed under an earlier key. Give it as SECRET_KEY_PREVIOUS, run ` +
      `${programName()} vault rotate, and remove it then. If that key is lost, run the same command without it: it names what ` +
      "can't be opened, and Berth starts again.",
  );
