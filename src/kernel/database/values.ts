// Converts values for SQLite and rows from it, equally for a local file and a server.

import type { InValue, ResultSet, Row, Value } from "@libsql/client";
import { invalidInput } from "../errors.ts";

/** The types that may be bound. Any other aborts the whole process inside the native addon. */
export type BoundValue = null | number | bigint | string | Uint8Array;

/**
 * Converts one argument for SQLite. Numbers are bound as REAL, as @libsql/client does: `?/2` divides without rounding, and
 * INTEGER columns take them unchanged. Text with NUL throws 400, since SQLite would return it
 * truncated.
 */
export function toBoundValue(value: InValue | undefined): BoundValue {
  switch (typeof value) {
    case "string":
      if (value.includes("\0")) throw invalidInput({ path: "", message: "Text can't contain the NUL character." });
      return value;
    case "number":
      if (!Number.isFinite(value)) throw new RangeError("Only finite numbers can be stored.");
      return value;
    case "bigint":
      return value;
    case "boolean":
      return value ? 1 : 0;
    case "object":
      if (value === null || value instanceof Uint8Array) return value;
      if (value instanceof ArrayBuffer) return new Uint8Array(value);
      if (value instanceof Date) return value.getTime();
  }
  throw new TypeError(`A value of type ${typeof value} can't be stored.`);
}

/** Converts integers to numbers where that is exact, and blobs to an ArrayBuffer that is a copy. */
function fromSqliteValue(value: unknown): Value {
  switch (typeof value) {
    case "bigint":
      return value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER ? Number(value) : value;
    case "string":
    case "number":
      return value;
    case "object":
      if (value instanceof Uint8Array) return new Uint8Array(value).buffer;
      if (value === null || value instanceof ArrayBuffer) return value;
  }
  throw new TypeError(`SQLite gave a value of type ${typeof value}.`);
}

/**
 * Makes rows in the shape of libSQL's `Row`: enumerable by name, readable by position. Positions are getters on a shared
 * prototype, so that a row costs no more than its named properties. If two columns have one name, the name means the
 * first.
 */
export function createRowFactory(columns: readonly string[]): (values: ArrayLike<unknown>) => Row {
  const prototype = Object.defineProperty({}, "length", { value: columns.length });
  const hasDuplicateNames = new Set(columns).size < columns.length;
  if (!hasDuplicateNames) {
    columns.forEach((name, position) => {
      Object.defineProperty(prototype, position, {
        get(this: Row) {
          return this[name];
        },
      });
    });
  }
  return (values) => {
    const row: Row = Object.create(prototype);
    for (let position = 0; position < columns.length; position++) {
      const name = columns[position] ?? "";
      const value = fromSqliteValue(values[position]);
      if (hasDuplicateNames) Object.defineProperty(row, position, { value });
      if (!hasDuplicateNames || !Object.hasOwn(row, name)) row[name] = value;
    }
    return row;
  };
}

export function createResultSet(
  columns: string[],
  columnTypes: string[],
  rows: Row[],
  rowsAffected: number,
  lastInsertRowid: bigint | undefined,
): ResultSet {
  return { columns, columnTypes, rows, rowsAffected, lastInsertRowid, toJSON };
}

function toJSON(this: ResultSet): unknown {
  const plain = (value: Value) =>
    typeof value === "bigint"
      ? value.toString()
      : value instanceof ArrayBuffer
        ? new Uint8Array(value).toBase64()
        : value;
  const { columns, columnTypes, rows, rowsAffected, lastInsertRowid } = this;
  return {
    columns,
    columnTypes,
    rows: rows.map((row) => Array.from(row, plain)),
    rowsAffected,
    lastInsertRowid: lastInsertRowid?.toString() ?? null,
  };
}
