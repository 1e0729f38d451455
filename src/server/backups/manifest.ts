// The manifest of a backup: a small file beside it, written last. A backup without one is unfinished and is never offered.

import type { KeptBackup, Verification } from "../../../plugins/fleet/backups/backup-work.ts";

export interface BackupManifest {
  format: "berth.backup";
  version: 1;
  /** The file that it belongs to. */
  name: string;
  /** ISO 8601: the moment that the database was copied. */
  createdAt: string;
  /** The program that made it. */
  program: string;
  bytes: number;
  /** Of the file as it is stored. */
  sha256: string;
  recipients: readonly string[];
  cells: number;
  /** Uploads, knowledge and agents' own backups. */
  files: number;
  verified: Verification;
  /** The continuous copy has asked for it. */
  isForCopy?: true;
  /** With BACKUP_CONTINUOUS: where the copies of the cells are in their logs. */
  log?: LogPlace[];
}

/** The place of a copy of a cell's database in the continuous copy. */
export interface LogPlace {
  cell: number;
  chain: string;
  /** The last segment that was stored before the copy was begun, and its SHA-256. */
  number: number;
  previous: string;
  generation: string;
  frame: number;
  /** Epoch ms: nothing in the copy is from later. */
  at: number;
}

const TEXT_FIELDS = ["name", "createdAt", "program", "sha256", "verified"] as const;
const NUMBER_FIELDS = ["bytes", "cells", "files"] as const;

export const formatManifest = (manifest: BackupManifest) => `${JSON.stringify(manifest, null, 2)}\n`;

/** Undefined for a text that is no whole manifest of this backup. */
export function parseManifest(text: string, name: string): BackupManifest | undefined {
  const value = parseJson(text);
  if (typeof value !== "object" || value === null) return undefined;
  const of = (field: string): unknown => Reflect.get(value, field);
  const isWhole =
    of("format") === "berth.backup" &&
    of("name") === name &&
    TEXT_FIELDS.every((field) => typeof of(field) === "string") &&
    NUMBER_FIELDS.every((field) => typeof of(field) === "number") &&
    Array.isArray(of("recipients")) &&
    !Number.isNaN(Date.parse(String(of("createdAt"))));
  // Every field was checked above.
  return isWhole ? (value as BackupManifest) : undefined;
}

export const toKeptBackup = ({ name, bytes, createdAt, verified, isForCopy }: BackupManifest): KeptBackup => ({
  name,
  bytes,
  createdAt: Date.parse(createdAt),
  verified,
  ...(isForCopy && { isForCopy }),
});

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
