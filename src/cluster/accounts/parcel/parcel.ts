// The form of a parcel, the file in which an account travels: a line of JSON for its head, for each row, job and piece of a file.

import { KEPT_FOLDERS } from "../../../kernel/files.ts";

/** Folders below the data folder with a folder for each agent. */
export const FILE_FOLDERS: readonly string[] = [...KEPT_FOLDERS, "mcp"];

export interface ParcelHeader {
  account: string;
  /** The last one of the database. */
  migration: string;
  tables: { name: string; columns: string[] }[];
  /** The least and the greatest number of the account's rows, for tables that a cell numbers. */
  numbers: Record<string, [number, number] | null>;
  agents: string[];
}

export type JobRow = Readonly<Record<string, unknown>> & { id: string };

export type ParcelLine =
  | { table: number; row: readonly unknown[] }
  | { job: JobRow }
  | { file: string; at: number; bytes: string };

export interface Packed {
  /** Bytes of the file. */
  size: number;
  digest: string;
  /** The ids of its jobs. */
  jobs: string[];
  /** How many of them were running. */
  running: number;
}

export const toText = (line: ParcelLine | ParcelHeader) => `${JSON.stringify(line, blobToText)}\n`;
export const fromText = (text: string): unknown => JSON.parse(text, textToBlob);

/** Called after `toJSON`, which makes an object of a buffer. */
function blobToText(_: string, value: unknown): unknown {
  if (typeof value === "bigint") return Number(value);
  if (typeof value !== "object" || value === null) return value;
  if (value instanceof Uint8Array) return { blob: Buffer.from(value).toString("base64") };
  if ("type" in value && value.type === "Buffer" && "data" in value && Array.isArray(value.data))
    return { blob: Buffer.from(value.data).toString("base64") };
  return value;
}

function textToBlob(_: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || !("blob" in value) || typeof value.blob !== "string") return value;
  return Object.keys(value).length === 1 ? new Uint8Array(Buffer.from(value.blob, "base64")) : value;
}
